"""Twins of the engine's methods for code without an event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_threads = threading.local()


class _OwnLoop:
    """The loop of a thread, closed when the thread ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        if not self.loop.is_closed() and not self.loop.is_running():
            self.loop.close()


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on this thread's own loop, which is kept for the next call.

    Raises:
        RuntimeError: Called from inside a running loop, where only the async method can be used.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        coroutine.close()
        raise RuntimeError("an event loop is running in this thread: await the method that begins with 'a' instead")
    return always_get_an_event_loop().run_until_complete(coroutine)


def always_get_an_event_loop() -> asyncio.AbstractEventLoop:
    """Return the running loop, else this thread's own, which is kept for the next call."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        pass
    own: _OwnLoop | None = getattr(_threads, "own", None)
    if own is None or own.loop.is_closed():
        own = _threads.own = _OwnLoop()
    return own.loop


class SyncTwins:
    """For each async method ``a<name>`` the blocking ``<name>``, with the same arguments and results."""

    def __getattr__(self, name: str) -> Any:
        # Only called for names that are not defined: the twin of an async method, or an error.
        twin = None if name.startswith(("_", "a")) else getattr(type(self), f"a{name}", None)
        if twin is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def call(*args: Any, **kwargs: Any) -> Any:
            return run_sync(twin(self, *args, **kwargs))

        call.__name__ = name
        call.__doc__ = twin.__doc__
        # Editors and help() show what can be given.
        signature = inspect.signature(twin.__get__(self))
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    def __dir__(self) -> list[str]:
        """List the twins too, for completion."""
        names = list(super().__dir__())
        twins = (
            name[1:]
            for name in names
            if name.startswith("a") and inspect.iscoroutinefunction(getattr(type(self), name, None))
        )
        return sorted({*names, *twins})
