"""The base of all stores: identity, lifecycle and the unit of work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol


class SharedLock(Protocol):
    """A lock that one holder at a time has among all machines; each object is taken and given back once at a time."""

    async def acquire(self, *, wait: bool) -> bool:
        """Take it; return whether it was taken.

        Args:
            wait: Until it is free; otherwise somebody else's is left alone.

        Raises:
            StorageError: Nobody can tell who has it.
        """
        ...

    async def release(self) -> None:
        """Give it back.

        Raises:
            StorageError: It was lost while it was held, and somebody else may have taken it since.
        """
        ...


@dataclass(kw_only=True, eq=False)
class StorageNameSpace(ABC):
    """One store of one workspace.

    Attributes:
        namespace: What the store holds, one of the ``KV_*``, ``VECTOR_*``, ... names of :mod:`lightrag.constants`.
        workspace: Isolates corpora that share a ``working_dir`` or a server; ``""`` is the default workspace.
        global_config: Settings of the owning engine. Every backend may rely on ``working_dir`` (str),
            ``embedding_batch_num`` (int) and ``vector_db_storage_cls_kwargs`` (dict). ``read_only`` (bool, absent: no)
            asks to leave what is stored as it is, for a copy that is made of it. What else it reads, such as the
            address of a server, it takes from here by the name of the setting, with a default. Never shown, since
            there are passwords among them.
    """

    namespace: str
    workspace: str
    global_config: Mapping[str, Any] = field(repr=False)

    @abstractmethod
    async def initialize(self) -> None:
        """Open the store, creating or migrating its schema. Idempotent.

        Raises:
            StorageError: The store cannot be opened; the message says why.
            SchemaVersionError: It was written by a newer version of the engine.
        """

    @abstractmethod
    async def finalize(self) -> None:
        """Flush and release. Idempotent; the store may be initialised again afterwards."""

    async def index_done_callback(self) -> None:  # noqa: B027 - optional by design
        """Make everything written so far durable. A no-op where every write already is."""

    async def drop_pending_index_ops(self) -> None:  # noqa: B027 - optional by design
        """Forget writes that were buffered but not yet made durable. A no-op where there are none."""

    @abstractmethod
    async def drop(self) -> dict[str, str]:
        """Delete everything in this namespace of this workspace.

        Returns:
            ``{"status": "success" | "error", "message": ...}``.
        """

    @property
    def transaction_group(self) -> Hashable | None:
        """Stores with an equal, non-``None`` group commit together inside one :meth:`transaction`."""
        return None

    def workspace_lock(self, name: str) -> SharedLock | None:
        """Return a lock that one holder at a time has, on whatever machine the workspace is open.

        It is taken beside locks on files of the working directory. ``None``, the default, says that these are enough:
        whoever can open the data has that directory. The engine asks the store of document status, once it is open, and
        may hold the lock longer than that.

        Args:
            name: What is locked; locks of other names and other workspaces are others.
        """
        return None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Collect the writes made inside the block and commit them together when it ends.

        Inside the block reads see the state *before* it: a caller reads, computes, then writes. An exception in the
        block discards the collected writes. A store on a server that loses the connection during the commit finds out
        whether it was made before it writes anything again, or says that it does not know. Where a backend has no
        transactions the writes happen at once and in order. ``Stores.unit_of_work`` is what callers use: it makes one
        change of it over any set of stores.
        """
        yield
