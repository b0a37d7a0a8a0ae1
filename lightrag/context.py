"""What every part of the engine works with: settings, stores and models of one workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.runtime.llm_cache import LLMCache
from lightrag.runtime.model_set import ModelSet
from lightrag.settings import Settings
from lightrag.stores import Stores

if TYPE_CHECKING:
    import asyncio


@dataclass(eq=False)
class EngineContext:
    """One workspace, opened.

    Attributes:
        settings: Frozen settings of the engine.
        stores: Its stores.
        models: Its models.
        cache: Cache of model replies, kept in the stores.
    `addon_params`` as the user gave them, with ``language`` and entity type guidance.
        graph_lock: Held while objects are read, merged and written; one graph writer per workspace.
    """

    settings: Settings
    stores: Stores
    models: ModelSet
    cache: LLMCache
    graph_lock: asyncio.Lock
    addon: dict[str, Any] = field(default_factory=dict)
    chunking_func: Callable[..., Any] | None = None
