"""What every part of the engine works with: settings, stores and models of one workspace."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lightrag.parser.engines import ParserEngines
from lightrag.runtime.events import Events
from lightrag.runtime.llm_cache import LLMCache
from lightrag.runtime.locks import WorkspaceLock
from lightrag.runtime.model_set import ModelSet
from lightrag.runtime.role_models import RoleModels
from lightrag.settings import Settings
from lightrag.stores import Stores


@dataclass(eq=False)
class EngineContext:
    """One workspace, opened.

    Attributes:
        settings: Frozen settings of the engine.
        stores: Its stores.
        models: Its models.
        cache: Cache of model replies, kept in the stores.
        graph_lock: Held while objects are read, merged and written; one graph writer per workspace.
        parsers: Turn files into text; nothing is started before the first file.
        addon: ``addon_params`` as the user gave them, with ``language`` and entity type guidance.
        chunking_func: The user's own chunker ``(tokenizer, content, split_by_character, split_by_character_only,
            overlap, size)``, plain or async, returning rows with ``content`` and ``tokens``.
        roles: Replaces the models of roles; ``None`` where they stay.
        events: Who listens.
        max_pending_documents: Documents that may wait before further ones are refused; 0 for no limit.
        eligible_counts: By filter, the version of the corpus and how many documents of it the filter accepts.
        process_id: Process that opened it; a fork of that has none of its threads.
    """

    settings: Settings
    stores: Stores
    models: ModelSet
    cache: LLMCache
    graph_lock: WorkspaceLock
    parsers: ParserEngines
    addon: dict[str, Any] = field(default_factory=dict)
    chunking_func: Callable[..., Any] | None = None
    roles: RoleModels | None = None
    events: Events = field(default_factory=Events)
    max_pending_documents: int = 0
    eligible_counts: dict[str, tuple[str, int]] = field(default_factory=dict)
    process_id: int = field(default_factory=os.getpid)
