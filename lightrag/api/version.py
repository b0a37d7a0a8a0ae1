"""The version of the engine."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def core_version() -> str:
    """Return the version of the installed distribution, ``unknown`` in a source tree that is not installed."""
    try:
        return version("lightrag-hku")
    except PackageNotFoundError:
        return "unknown"
