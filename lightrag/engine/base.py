"""What the methods of the engine have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightrag.access import AccessPolicy
    from lightrag.context import EngineContext
    from lightrag.ingest.state import PipelineState
    from lightrag.settings import Settings


class EngineBase:
    """An engine whose stores may be open."""

    _settings: Settings
    _state: PipelineState
    _context: EngineContext | None
    # What the caller of this engine may see; None for everything.
    _access: AccessPolicy | None = None

    @property
    def context(self) -> EngineContext:
        """The opened workspace.

        Raises:
            StorageError: ``initialize_storages`` has not been called.
        """
        from lightrag.exceptions import StorageError

        if self._context is None:
            raise StorageError("the stores are not open: call `await rag.initialize_storages()` first")
        return self._context
