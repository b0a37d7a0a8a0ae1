"""The parameters of a query, as callers hand them over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from lightrag.query_filters import DateFilter, RequiredTagsMode, SearchFilters

QueryMode = Literal["local", "global", "hybrid", "naive", "mix", "bypass"]
KgEvidencePolicy = Literal["prune_evidence", "strict_drop", "keep_merged"]


def _setting(name: str) -> Callable[[], Any]:
    """Return a factory that looks the default up when a parameter object is made, not when this module is read."""

    def read() -> Any:
        from lightrag.settings import current_settings

        return getattr(current_settings(), name)

    return read


@dataclass
class QueryParam:
    """Parameters of one query. The order of the first fields is part of the compatibility contract.

    Attributes:
        mode: ``local`` entities, ``global`` relations, ``hybrid`` both, ``naive`` chunks, ``mix`` all, ``bypass`` none.
        only_need_context: Return the context instead of an answer.
        only_need_prompt: Return the whole prompt instead of an answer.
        response_type: Form of the answer, in words.
        stream: Return an iterator of pieces.
        top_k: Entities or relations taken from the vector search.
        chunk_top_k: Chunks in the context at the most.
        max_entity_tokens: Token budget of entities.
        max_relation_tokens: Token budget of relations.
        max_total_tokens: Token budget of the whole prompt.
        hl_keywords: High-level keywords; given ones spare the model call.
        ll_keywords: Low-level keywords.
        conversation_history: Messages ``{"role", "content"}`` before the question.
        user_prompt: Further instruction for the answer.
        enable_rerank: Rerank chunks when a reranker is set.
        include_references: Kept for compatibility; results always carry references.
        disable_user_prompt_prefix: Leave the configured prefix of user prompts out.
        date_filter: Dates of the documents, as a model or a dict.
        required_tags: Tags the documents must have.
        required_tags_mode: ``and``: all of them, ``or``: any.
        forbidden_tags: Tags the documents must not have.
        apply_forbidden_tags_to_kg: Also drop entities and relations whose evidence carries a forbidden tag.
        search_filters: Entity types, relation types, documents and properties.
        doc_types: Document types, any of them.
        path_prefixes: Folders, any of them.
        modified_after: Earliest modification time, aware datetime, ISO-8601 text or Unix seconds.
        modified_before: Latest modification time.
        kg_evidence_policy: What happens to objects with excluded evidence.
        include_document_metadata: Show dates and tags of each reference to the model.
    """

    mode: QueryMode = "mix"
    only_need_context: bool = False
    only_need_prompt: bool = False
    response_type: str = "Multiple Paragraphs"
    stream: bool = False
    top_k: int = field(default_factory=_setting("top_k"))
    chunk_top_k: int = field(default_factory=_setting("chunk_top_k"))
    max_entity_tokens: int = field(default_factory=_setting("max_entity_tokens"))
    max_relation_tokens: int = field(default_factory=_setting("max_relation_tokens"))
    max_total_tokens: int = field(default_factory=_setting("max_total_tokens"))
    hl_keywords: list[str] = field(default_factory=list)
    ll_keywords: list[str] = field(default_factory=list)
    conversation_history: list[dict[str, str]] = field(default_factory=list)
    user_prompt: str | None = None
    enable_rerank: bool = field(default_factory=_setting("rerank_by_default"))
    include_references: bool = False
    disable_user_prompt_prefix: bool = False
    date_filter: DateFilter | dict[str, Any] | None = None
    required_tags: list[str] = field(default_factory=list)
    required_tags_mode: RequiredTagsMode | str = "and"
    forbidden_tags: list[str] = field(default_factory=list)
    apply_forbidden_tags_to_kg: bool = False
    search_filters: SearchFilters | dict[str, Any] | None = None
    doc_types: list[str] = field(default_factory=list)
    path_prefixes: list[str] = field(default_factory=list)
    modified_after: Any = None
    modified_before: Any = None
    kg_evidence_policy: KgEvidencePolicy = "prune_evidence"
    include_document_metadata: bool = False
