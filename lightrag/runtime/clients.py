"""HTTP clients of model providers, kept open between calls.

A new client per call would pay for a TLS context and a handshake each time. Connections belong to the event
loop that opened them, so every loop has clients of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")

_pools: WeakSet[ClientPool[Any, Any]] = WeakSet()


@dataclass
class _Entry(Generic[C]):
    client: C
    users: int = 0
    retired: bool = False


class ClientPool(Generic[K, C]):
    """Clients by their settings, shared by all calls of one event loop."""

    def __init__(self, build: Callable[[K], C], close: Callable[[C], Awaitable[Any]], package: str = "") -> None:
        """Make an empty pool.

        Args:
            build: Makes the client for some settings.
            close: Closes it.
            package: Imported before the first client is made, in a thread: the SDKs of providers take up to seconds,
                for which nothing else in the event loop would go on.
        """
        self._package = package
        self._build = build
        self._close = close
        self._entries: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[K, _Entry[C]]] = WeakKeyDictionary()
        _pools.add(self)

    @asynccontextmanager
    async def lease(self, settings: K) -> AsyncIterator[C]:
        """Use the client for some settings; it stays open at least until the block ends.

        Args:
            settings: Hashable; equal settings share a client.
        """
        if self._package:
            # A package that another call is importing is among the modules already: whoever asks waits in a thread.
            await asyncio.to_thread(import_module, self._package)
            self._package = ""
        entries = self._entries.setdefault(asyncio.get_running_loop(), {})
        entry = entries.get(settings)
        if entry is None:
            entry = entries[settings] = _Entry(self._build(settings))
        entry.users += 1
        try:
            yield entry.client
        finally:
            entry.users -= 1
            if entry.retired and not entry.users:
                await self._close(entry.client)

    async def retire(self) -> None:
        """Close the clients of the running loop: those in use when their last call ends, the others now."""
        entries = self._entries.pop(asyncio.get_running_loop(), {})
        for entry in entries.values():
            entry.retired = True
            if not entry.users:
                await self._close(entry.client)


async def close_idle_clients() -> None:
    """Close every provider's clients in the running event loop; calls still going on end undisturbed.

    An engine does this when it is finalised. Another engine in the same loop opens new ones with its next
    call.
    """
    for pool in list(_pools):
        await pool.retire()
