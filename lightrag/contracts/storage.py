"""The base of all stores: identity, lifecycle and the unit of work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(kw_only=True, eq=False)
class StorageNameSpace(ABC):
    """One store of one workspace.

    Attributes:
        namespace: What the store holds, one of the ``KV_*``, ``VECTOR_*``, ... names of :mod:`lightrag.constants`.
        workspace: Isolates corpora that share a ``working_dir`` or a server; ``""`` is the default workspace.
        global_config: Settings of the owning engine. Every backend may rely on ``working_dir`` (str),
            ``embedding_batch_num`` (int) and ``vector_db_storage_cls_kwargs`` (dict).
    """

    namespace: str
    workspace: str
    global_config: Mapping[str, Any]

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

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Collect the writes made inside the block and commit them together when it ends.

        Inside the block reads see the state *before* it: a caller reads, computes, then writes. An exception in the
        block discards the collected writes. Where a backend has no transactions the writes happen at once and in
        order. ``Stores.unit_of_work`` is what callers use: it makes one change of it over any set of stores.
        """
        yield
