"""A guard against what never ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def ends(seconds: float = 60.0) -> Iterator[None]:
    """Fail what has not ended after a time.

    No measure of speed: what is guarded takes a small part of that, and an input is so long that it would take hours if
    it cost its square.

    Args:
        seconds: How long to wait.
    """

    def give_up(*_: object) -> None:
        pytest.fail(f"it has not ended after {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
