"""Engines that open and close themselves."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, ClassVar, Protocol, TypeVar
from weakref import WeakSet

from lightrag.sync import run_sync

R = TypeVar("R")


class SelfManaged(Protocol):
    """An engine that may have to be closed."""

    @property
    def is_open(self) -> bool:
        """Tell whether its stores are open."""
        ...

    async def finalize_storages(self) -> None:
        """Flush and close the stores. Idempotent."""
        ...


def opening(method: Callable[..., Awaitable[R]]) -> Callable[..., Awaitable[R]]:
    """Return an async method of an engine that first lets the engine open itself, where it does that."""

    @wraps(method)
    async def call(self: Any, *args: Any, **kwargs: Any) -> R:
        await self._ready()
        return await method(self, *args, **kwargs)

    return call


class _AtExit:
    """Engines that are closed when the process ends."""

    engines: ClassVar[WeakSet[Any]] = WeakSet()
    registered = False

    @classmethod
    def close_all(cls) -> None:
        for engine in list(cls.engines):
            if engine.is_open:
                run_sync(engine.finalize_storages())


def close_at_exit(engine: SelfManaged) -> None:
    """Close an engine when the process ends, if nobody has until then."""
    _AtExit.engines.add(engine)
    if not _AtExit.registered:
        _AtExit.registered = True
        # Functions of `atexit` run after the thread pools of all stores have been stopped.
        register: Callable[[Callable[[], None]], None] = threading._register_atexit  # type: ignore[attr-defined] # noqa: SLF001
        register(_AtExit.close_all)
