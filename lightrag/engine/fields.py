"""The constructor fields of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, RerankFunc, Tokenizer
from lightrag.contracts.roles import RoleLLMConfig
from lightrag.runtime.events import Listener
from lightrag.runtime.observation import Observation


def _setting(name: str) -> Any:
    """Return a field whose default is the setting of that name when the engine is made."""

    def read() -> Any:
        from lightrag.settings import current_settings

        return getattr(current_settings(), name)

    return field(default_factory=read)


def _no_similar_answers() -> dict[str, Any]:
    return {"enabled": False, "similarity_threshold": 0.95, "use_llm_check": False}


@dataclass
class OllamaServerInfos:
    """The model that the Ollama routes of a server show, as ``name:tag``."""

    name: str | None = None
    tag: str | None = None


@dataclass(eq=False)
class EngineFields:
    """What an engine can be given; :class:`lightrag.settings.Settings` describes the fields of the same name.

    A field that is ``None`` takes its setting. The others:

    Attributes:
        vector_db_storage_cls_kwargs: For the vector stores; ``kg_union_skip_open_bounds`` may be given here, too.
        auto_manage_storages_states: Open the stores with the first call, and close them with the event loop or the
            process.
        tokenizer: Counts tokens; that of ``tiktoken_model_name`` when not given.
        chunking_func: ``(tokenizer, content, split_by_character, split_by_character_only, overlap, size)``, plain or
            async, returning rows with ``content`` and ``tokens``.
        embedding_func: Embeds texts; required.
        embedding_token_limit: Longest text that it takes, as it says itself.
        embedding_cache_config: Accepted; answers are only found again by the very same question.
        llm_model_func: The language model; required.
        role_llm_configs: What the roles ``extract``, ``keyword`` and ``query`` have of their own.
        llm_model_kwargs: Sent with every call of ``llm_model_func``.
        rerank_model_func: Reranks chunks.
        max_pending_documents: Documents that may wait before further ones are refused; 0 for no limit.
        addon_params: ``language``, ``entity_types_guidance``, ``entity_type_prompt_file``, ``chunker``.
        ollama_server_infos: Name and tag of the model that a server made from this engine shows.
        log_level: Deprecated, without effect.
        log_file_path: Deprecated, without effect.
        observer: Told every event; :meth:`LightRAG.on` listens to one kind.
        roles: What roles have of their own, changes included.
        observation: Listeners and figures.
    """

    working_dir: str = _setting("working_dir")
    kv_storage: str = _setting("kv_storage")
    vector_storage: str = _setting("vector_storage")
    graph_storage: str = _setting("graph_storage")
    doc_status_storage: str = _setting("doc_status_storage")
    evidence_storage: str = _setting("evidence_storage")
    workspace: str = _setting("workspace")
    vector_db_storage_cls_kwargs: dict[str, Any] = field(default_factory=dict)
    auto_manage_storages_states: bool = False
    cosine_better_than_threshold: float = _setting("cosine_better_than_threshold")

    top_k: int = _setting("top_k")
    chunk_top_k: int = _setting("chunk_top_k")
    max_entity_tokens: int = _setting("max_entity_tokens")
    max_relation_tokens: int = _setting("max_relation_tokens")
    max_total_tokens: int = _setting("max_total_tokens")
    related_chunk_number: int = _setting("related_chunk_number")
    kg_chunk_pick_method: str = _setting("kg_chunk_pick_method")
    enable_content_headings: bool = _setting("enable_content_headings")
    user_prompt_prefix: str = _setting("user_prompt_prefix")
    user_prompt_prefix_file: str = _setting("user_prompt_prefix_file")

    entity_extract_max_gleaning: int = _setting("entity_extract_max_gleaning")
    entity_extract_max_records: int = _setting("entity_extract_max_records")
    entity_extract_max_entities: int = _setting("entity_extract_max_entities")
    entity_extraction_use_json: bool = _setting("entity_extraction_use_json")
    force_llm_summary_on_merge: int = _setting("force_llm_summary_on_merge")
    summary_max_tokens: int = _setting("summary_max_tokens")
    summary_context_size: int = _setting("summary_context_size")
    summary_length_recommended: int = _setting("summary_length_recommended")

    chunk_token_size: int = _setting("chunk_token_size")
    chunk_overlap_token_size: int = _setting("chunk_overlap_token_size")
    tokenizer: Tokenizer | None = None
    tiktoken_model_name: str = _setting("tiktoken_model_name")
    chunking_func: Callable[..., Any] | None = None

    embedding_func: EmbeddingFunc | None = None
    embedding_token_limit: int | None = field(default=None, init=False)
    embedding_chunk_overlap_token_size: int = _setting("embedding_chunk_overlap_token_size")
    embedding_batch_num: int = _setting("embedding_batch_num")
    embedding_func_max_async: int = _setting("embedding_func_max_async")
    default_embedding_timeout: int = _setting("default_embedding_timeout")
    embedding_cache_config: dict[str, Any] | None = field(default_factory=_no_similar_answers)
    embedding_price: float = _setting("embedding_price")

    llm_model_func: LLMFunc | None = None
    role_llm_configs: Mapping[str, RoleLLMConfig | Mapping[str, Any]] | None = None
    llm_model_name: str = _setting("llm_model_name")
    llm_model_max_async: int = _setting("llm_model_max_async")
    llm_model_kwargs: dict[str, Any] = field(default_factory=dict)
    default_llm_timeout: int = _setting("default_llm_timeout")
    llm_input_price: float = _setting("llm_input_price")
    llm_output_price: float = _setting("llm_output_price")
    enable_llm_cache: bool = _setting("enable_llm_cache")
    enable_llm_cache_for_entity_extract: bool = _setting("enable_llm_cache_for_entity_extract")
    vlm_process_enable: bool = _setting("vlm_process_enable")

    rerank_model_func: RerankFunc | None = None
    rerank_model_max_async: int = _setting("rerank_model_max_async")
    default_rerank_timeout: int = _setting("default_rerank_timeout")
    min_rerank_score: float = _setting("min_rerank_score")

    max_parallel_insert: int = _setting("max_parallel_insert")
    max_parallel_parse_native: int = _setting("max_parallel_parse_native")
    max_parallel_parse_mineru: int = _setting("max_parallel_parse_mineru")
    max_parallel_parse_docling: int = _setting("max_parallel_parse_docling")
    max_parallel_analyze: int = _setting("max_parallel_analyze")
    queue_size_parse: int = _setting("queue_size_parse")
    queue_size_analyze: int = _setting("queue_size_analyze")
    queue_size_insert: int = _setting("queue_size_insert")
    pipeline_scheduling_page_size: int = _setting("pipeline_scheduling_page_size")
    pipeline_require_strict_storage_reads: bool = _setting("pipeline_require_strict_storage_reads")
    max_pending_documents: int = 0

    max_graph_nodes: int = _setting("max_graph_nodes")
    max_source_ids_per_entity: int = _setting("max_source_ids_per_entity")
    max_source_ids_per_relation: int = _setting("max_source_ids_per_relation")
    source_ids_limit_method: str = _setting("source_ids_limit_method")
    max_file_paths: int = _setting("max_file_paths")
    file_path_more_placeholder: str = _setting("file_path_more_placeholder")

    enable_vector_metadata_filters: bool = _setting("enable_vector_metadata_filters")
    kg_union_skip_open_bounds: bool = _setting("kg_union_skip_open_bounds")
    scope_tag_prefixes: list[str] = _setting("scope_tag_prefixes")
    enable_kg_scope_materialization: bool = _setting("enable_kg_scope_materialization")

    addon_params: dict[str, Any] = field(default_factory=dict)
    ollama_server_infos: OllamaServerInfos | None = None
    log_level: int | str | None = None
    log_file_path: str | None = None
    observer: Listener | None = None

    roles: dict[str, RoleLLMConfig] = field(default_factory=dict, init=False, repr=False)
    observation: Observation = field(default_factory=Observation, init=False, repr=False)
