"""Settings: the only reader of the environment.

Every field can be given to ``LightRAG(...)`` under its own name, or as an environment variable (or a line of ``.env``
in the working directory; the environment wins) under its upper-case name or the names listed as aliases. Nothing is
read at import: :func:`load_settings` reads afresh, :func:`current_settings` once per process.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, NoDecode, SettingsConfigDict

from lightrag.exceptions import InputError

logger = logging.getLogger("lightrag.settings")

_RETIRED = {
    "ENTITY_TYPES": (
        "name the types in a text for the model, by addon_params={'entity_types_guidance': ...} or "
        "ENTITY_TYPE_PROMPT_FILE, and remove the variable"
    )
}


def _named(default: Any, names: str, text: str, **limits: Any) -> Any:
    """Return a field that is known by several names, the first of which is its own."""
    return Field(default, validation_alias=AliasChoices(*names.split()), description=text, **limits)


class StorageSettings(BaseSettings):
    """Where data lives and which classes hold it."""

    working_dir: str = Field("./rag_storage", description="Folder of the embedded stores.")
    workspace: str = Field("", description="Name that isolates a corpus inside working_dir or a database server.")
    kv_storage: str = _named("SQLiteKVStorage", "kv_storage LIGHTRAG_KV_STORAGE", "Class of the key-value store.")
    doc_status_storage: str = _named(
        "SQLiteDocStatusStorage",
        "doc_status_storage LIGHTRAG_DOC_STATUS_STORAGE",
        "Class of the document status store.",
    )
    graph_storage: str = _named(
        "SQLiteGraphStorage", "graph_storage LIGHTRAG_GRAPH_STORAGE", "Class of the graph store."
    )
    vector_storage: str = _named(
        "SQLiteVectorDBStorage", "vector_storage LIGHTRAG_VECTOR_STORAGE", "Class of the vector store."
    )
    evidence_storage: str = _named(
        "",
        "evidence_storage LIGHTRAG_EVIDENCE_STORAGE",
        "Class of the evidence store; empty: the family of the document status, else of the graph, else SQLite.",
    )
    cosine_better_than_threshold: float = _named(
        0.2, "cosine_better_than_threshold COSINE_THRESHOLD", "Similarity floor of vector searches.", ge=-1.0, le=1.0
    )


class QuerySettings(BaseSettings):
    """Retrieval defaults and budgets (tokens)."""

    top_k: int = Field(40, ge=1, le=1000, description="Entities or relations taken from the vector search.")
    chunk_top_k: int = Field(20, ge=1, le=1000, description="Chunks that reach the context at the most.")
    max_entity_tokens: int = Field(6000, ge=1, description="Token budget of the entities in the context.")
    max_relation_tokens: int = Field(8000, ge=1, description="Token budget of the relations in the context.")
    max_total_tokens: int = Field(30000, ge=1, description="Token budget of the whole prompt.")
    related_chunk_number: int = Field(5, ge=1, description="Chunks considered per entity or relation.")
    kg_chunk_pick_method: Literal["VECTOR", "WEIGHT"] = Field(
        "VECTOR", description="How chunks of entities and relations are chosen."
    )
    enable_content_headings: bool = Field(True, description="Show chunk headings in the context where known.")
    user_prompt_prefix: str = Field("", description="Put before every user prompt.")
    user_prompt_prefix_file: str = Field("", description="File that holds the prefix, when none is given directly.")
    rerank_by_default: bool = Field(True, description="Default of QueryParam.enable_rerank.")
    min_rerank_score: float = Field(0.0, description="Reranked chunks below this score are dropped.")


class ExtractionSettings(BaseSettings):
    """Entity and relation extraction, merging and summaries."""

    entity_extract_max_gleaning: int = _named(
        1, "entity_extract_max_gleaning MAX_GLEANING", "Extra calls per chunk that ask for what was missed.", ge=0
    )
    entity_extract_max_records: int = _named(
        100, "entity_extract_max_records MAX_EXTRACTION_RECORDS", "Rows asked for per reply.", ge=1
    )
    entity_extract_max_entities: int = _named(
        40, "entity_extract_max_entities MAX_EXTRACTION_ENTITIES", "Entities asked for per reply.", ge=1
    )
    entity_extraction_use_json: bool = Field(False, description="Ask for JSON instead of rows.")
    max_extract_input_tokens: int = Field(20480, ge=1, description="Longest extraction prompt, in tokens.")
    force_llm_summary_on_merge: int = Field(8, ge=2, description="Fragments from which a description is summarised.")
    summary_max_tokens: int = Field(1200, ge=1, description="Tokens from which a description is summarised.")
    summary_context_size: int = Field(12000, ge=1, description="Tokens of fragments in one summary call.")
    summary_length_recommended: int = Field(600, ge=1, description="Tokens a summary should have.")
    summary_language: str = Field("English", description="Language of extracted texts and summaries.")
    entity_type_prompt_file: str = Field(
        "", description="File that tells which types of entities to look for, as text for the model."
    )
    prompt_dir: str = Field("", description="Folder of prompt files that are named without one.")
    max_graph_nodes: int = Field(1000, ge=1, description="Nodes a graph view returns at the most.")
    max_source_ids_per_entity: int = Field(200, ge=1, description="Chunk ids listed per entity.")
    max_source_ids_per_relation: int = Field(200, ge=1, description="Chunk ids listed per relation.")
    source_ids_limit_method: Literal["KEEP", "FIFO"] = Field("KEEP", description="Keep the oldest or the newest.")
    max_file_paths: int = Field(75, ge=1, description="File paths listed per entity or relation.")
    file_path_more_placeholder: str = Field("truncated", description="Stands for the paths left out.")


class ChunkSettings(BaseSettings):
    """Chunk sizes in tokens."""

    chunk_token_size: int = _named(1200, "chunk_token_size CHUNK_SIZE", "Tokens per chunk.", ge=1)
    chunk_overlap_token_size: int = _named(
        100, "chunk_overlap_token_size CHUNK_OVERLAP_SIZE", "Tokens that neighbouring chunks share.", ge=0
    )
    chunk_f_size: int = Field(0, ge=0, description="Tokens per chunk of fixed_token; 0: CHUNK_SIZE.")
    chunk_r_size: int = Field(0, ge=0, description="Tokens per chunk of recursive_character; 0: CHUNK_SIZE.")
    chunk_v_size: int = Field(0, ge=0, description="Tokens per chunk of semantic_vector; 0: CHUNK_SIZE.")
    chunk_p_size: int = Field(2000, ge=0, description="Tokens per chunk of paragraph_semantic; 0: CHUNK_SIZE.")
    chunk_f_overlap_size: int = Field(-1, ge=-1, description="Overlap of fixed_token; -1: CHUNK_OVERLAP_SIZE.")
    chunk_r_overlap_size: int = Field(-1, ge=-1, description="Overlap of recursive_character; -1: CHUNK_OVERLAP_SIZE.")
    chunk_p_overlap_size: int = Field(-1, ge=-1, description="Overlap of paragraph_semantic; -1: CHUNK_OVERLAP_SIZE.")
    chunk_f_split_by_character: str = Field("", description="Text at which fixed_token cuts first; empty for none.")
    chunk_f_split_by_character_only: bool = Field(False, description="Let fixed_token cut nowhere else.")
    chunk_r_separators: str = Field("", description="Where recursive_character cuts, best first: a JSON list of texts.")
    chunk_v_breakpoint_threshold_type: Literal["percentile", "standard_deviation", "interquartile", "gradient"] = Field(
        "percentile", description="How semantic_vector finds the distance at which it cuts."
    )
    chunk_v_breakpoint_threshold_amount: float = Field(
        0.0, ge=0, description="Percentile or multiple for the threshold; 0: the usual one of its type."
    )
    chunk_v_buffer_size: int = Field(1, ge=0, le=10, description="Neighbours that a sentence is embedded with.")
    chunk_v_sentence_split_regex: str = Field(
        "", description="Regular expression after whose matches sentences end; empty: the built-in rule."
    )
    chunk_p_drop_references: bool = Field(False, description="Let paragraph_semantic leave out lists of references.")
    tiktoken_model_name: str = Field("gpt-4o-mini", description="Model whose tokens are counted.")


class ParserSettings(BaseSettings):
    """Parsing of files, and the external services that can do it."""

    parser_rules: str = _named(
        "", "parser_rules LIGHTRAG_PARSER", "Engine and options by file type, such as pdf:docling-F, *:legacy"
    )
    parser_timeout: int = Field(300, ge=1, description="Longest parse of one file by the built-in engine, seconds.")
    parser_memory_limit: int = Field(
        2048, ge=512, description="Address space of a parsing process, MiB, the libraries' own 600 MiB included."
    )
    max_parallel_parse_native: int = Field(2, ge=1, description="Parsing processes at a time.")
    pdf_decrypt_password: str = Field("", repr=False, description="Tried on a PDF that is protected by a password.")
    docling_endpoint: str = Field("", description="Address of a docling-serve service; empty: the engine is off.")
    docling_api_key: str = Field("", repr=False, description="Key that the docling service asks for.")
    docling_timeout: int = Field(1800, ge=1, description="Longest conversion of one file by docling, seconds.")
    max_parallel_parse_docling: int = Field(1, ge=1, description="Files at docling at a time.")
    mineru_api_mode: Literal["local", "v1"] = Field(
        "local", description="Interface of MinerU: local for versions 2 and 3, v1 for version 4 and the official one."
    )
    mineru_local_endpoint: str = Field("", description="Address of a MinerU service; empty: the engine is off.")
    mineru_api_token: str = Field("", repr=False, description="Token that the MinerU service asks for.")
    mineru_timeout: int = Field(1800, ge=1, description="Longest parse of one file by MinerU, seconds.")
    max_parallel_parse_mineru: int = Field(1, ge=1, description="Files at MinerU at a time.")


class ModelSettings(BaseSettings):
    """Models: identity, concurrency and time limits (seconds)."""

    llm_model_name: str = _named("gpt-4o-mini", "llm_model_name LLM_MODEL", "Name of the language model.")
    llm_model_max_async: int = _named(
        4, "llm_model_max_async MAX_ASYNC_LLM MAX_ASYNC", "Language model calls at a time.", ge=1
    )
    default_llm_timeout: int = _named(240, "default_llm_timeout LLM_TIMEOUT", "Longest language model call.", ge=1)
    enable_llm_cache: bool = Field(True, description="Keep answers and keywords.")
    enable_llm_cache_for_entity_extract: bool = _named(
        True,
        "enable_llm_cache_for_entity_extract ENABLE_LLM_CACHE_FOR_EXTRACT",
        "Keep extraction replies, so that a retried document costs no calls.",
    )
    embedding_batch_num: int = Field(10, ge=1, description="Texts per embedding call.")
    embedding_func_max_async: int = Field(8, ge=1, description="Embedding calls at a time.")
    default_embedding_timeout: int = _named(
        30, "default_embedding_timeout EMBEDDING_TIMEOUT", "Longest embedding call.", ge=1
    )
    embedding_chunk_overlap_token_size: int = Field(
        100, ge=0, description="Tokens that windows share when a text is too long for the embedding model."
    )
    llm_input_price: float = Field(0.0, ge=0, description="Price of a million prompt tokens; 0 when not known.")
    llm_output_price: float = Field(0.0, ge=0, description="Price of a million tokens of replies; 0 when not known.")
    embedding_price: float = Field(0.0, ge=0, description="Price of a million embedded tokens; 0 when not known.")
    rerank_model_max_async: int = _named(4, "rerank_model_max_async MAX_ASYNC_RERANK", "Rerank calls at a time.", ge=1)
    default_rerank_timeout: int = _named(30, "default_rerank_timeout RERANK_TIMEOUT", "Longest rerank call.", ge=1)


class PipelineSettings(BaseSettings):
    """How much is worked on at a time."""

    max_parallel_insert: int = Field(3, ge=1, description="Documents in extraction at a time.")
    queue_size_insert: int = Field(32, ge=1, description="Extracted documents that wait for one merge.")
    pipeline_require_strict_storage_reads: bool = Field(
        False, description="Open no stores that cannot tell a missing document from one that cannot be read."
    )
    pipeline_scheduling_page_size: int = Field(500, ge=1, description="Document rows read at a time.")


class UnusedSettings(BaseSettings):
    """Known from the published package, without effect here; a value other than the default gives a warning."""

    queue_size_parse: int = Field(20, ge=1, description="No effect: parsing waits in the order of documents.")
    max_parallel_analyze: int = Field(5, ge=1, description="No effect: pictures are not analysed.")
    queue_size_analyze: int = Field(100, ge=1, description="No effect: pictures are not analysed.")
    vlm_process_enable: bool = Field(False, description="No effect: pictures are not analysed.")


class FilterSettings(BaseSettings):
    """Metadata filters and scopes."""

    enable_vector_metadata_filters: bool = _named(
        False,
        "enable_vector_metadata_filters LIGHTRAG_VECTOR_METADATA_FILTERS",
        "Stamp filter fields on vector rows and let the vector engine filter.",
    )
    kg_union_skip_open_bounds: bool = _named(
        True,
        "kg_union_skip_open_bounds LIGHTRAG_KG_UNION_SKIP_OPEN_BOUNDS",
        "A document without a bound does not widen the interval of an entity to infinity.",
    )
    scope_tag_prefixes: Annotated[list[str], NoDecode] = _named(
        [],
        "scope_tag_prefixes LIGHTRAG_SCOPE_TAG_PREFIXES",
        "Tag prefixes that name scopes, separated by commas, such as tenant:",
    )
    enable_kg_scope_materialization: bool = _named(
        False,
        "enable_kg_scope_materialization LIGHTRAG_KG_SCOPE_MATERIALIZATION",
        "Keep a graph of its own for every scope.",
    )

    @field_validator("scope_tag_prefixes", mode="before")
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        if isinstance(value, str):
            return [part.strip() for part in value.split(",") if part.strip()]
        return value


class Settings(
    StorageSettings,
    QuerySettings,
    ExtractionSettings,
    ChunkSettings,
    ParserSettings,
    ModelSettings,
    PipelineSettings,
    UnusedSettings,
    FilterSettings,
):
    """All settings of the engine, typed and frozen."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True, populate_by_name=True
    )


def load_settings(**overrides: Any) -> Settings:
    """Read the environment now.

    Args:
        overrides: Values by field name; they win over the environment.

    Raises:
        InputError: A value cannot be used, or a variable that nobody may rely on any more is set; the message names it
            and says what was allowed.
    """
    _refuse_retired_variables()
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in item['loc'])}={item.get('input')!r}: {item['msg']}"
            for item in error.errors()
        )
        raise InputError(f"setting not usable: {problems}") from error
    return settings


def _refuse_retired_variables() -> None:
    """Refuse variables whose silent neglect would give another graph than their owner expects."""
    given = {**DotEnvSettingsSource(Settings).env_vars, **EnvSettingsSource(Settings).env_vars}
    # Names are compared in lower case, as the sources give them.
    for name, instead in _RETIRED.items():
        if given.get(name.lower()):
            raise InputError(f"the environment sets {name}={given[name.lower()]!r}, which is not read: {instead}")


def unused_settings(settings: Settings) -> dict[str, str]:
    """Return the settings that were changed although they have no effect, with their descriptions."""
    return {
        name: field.description or ""
        for name, field in UnusedSettings.model_fields.items()
        if getattr(settings, name) != field.default
    }


@lru_cache(maxsize=1)
def current_settings() -> Settings:
    """Return the settings as first read by this process; ``current_settings.cache_clear()`` forgets them."""
    return load_settings()
