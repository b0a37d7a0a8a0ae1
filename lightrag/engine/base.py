"""What the methods of the engine have in common."""

from __future__ import annotations

import os
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from lightrag.engine.lifecycle import opening

if TYPE_CHECKING:
    from lightrag.access import AccessPolicy
    from lightrag.context import EngineContext
    from lightrag.ingest.state import PipelineState
    from lightrag.settings import Settings


# Methods that open or close, which must not wait for the stores to be open.
_LIFECYCLE = ("initialize_storages", "finalize_storages")


class EngineBase:
    """An engine whose stores may be open."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # Every public async method opens the engine where it manages itself, without each having to say so.
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(cls).items()):
            if iscoroutinefunction(method) and not name.startswith("_") and name not in _LIFECYCLE:
                setattr(cls, name, opening(method))

    _settings: Settings
    _state: PipelineState
    _context: EngineContext | None
    # What the caller of this engine may see; None for everything.
    _access: AccessPolicy | None = None

    @property
    def context(self) -> EngineContext:
        """The opened workspace.

        Raises:
            StorageNotInitializedError: ``initialize_storages`` has not been called, or not in this process.
        """
        from lightrag.exceptions import StorageNotInitializedError

        if self._context is None:
            raise StorageNotInitializedError("the stores are not open: call `await rag.initialize_storages()` first")
        if self._context.process_id != os.getpid():
            raise StorageNotInitializedError(
                f"the stores were opened in process {self._context.process_id}, of which this one is a fork; its "
                "threads are not here: make an engine after the fork, and use that"
            )
        return self._context

    @property
    def is_open(self) -> bool:
        """Tell whether the stores are open."""
        return self._context is not None

    async def _ready(self) -> None:
        """Open the stores, where the engine does that itself."""
