"""Every name that users of the published package have in their code: imported here, and put to use."""

from __future__ import annotations

import dataclasses
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightrag
from lightrag import LightRAG, QueryParam
from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.kg.registry import BACKENDS, storage_class
from lightrag.kg.shared_storage import initialize_pipeline_status
from tests.fakes.facts import FactModel, make_embedding

MODULES: dict[str, tuple[str, ...]] = {
    "lightrag": ("LightRAG", "QueryParam", "RoleLLMConfig", "RoleSpec", "ROLES", "__version__"),
    "lightrag.api": ("__api_version__",),
    "lightrag.api.config": ("parse_args",),
    "lightrag.api.lightrag_server": ("create_app", "get_application", "main"),
    "lightrag.base": (
        *("BaseGraphStorage", "BaseKVStorage", "BaseVectorStorage", "DeletionResult", "DocProcessingStatus"),
        *("DocStatus", "DocStatusStorage", "OllamaServerInfos", "QueryParam", "StorageNameSpace"),
        *("SourceAbsent", "SourceUnique", "SourceConflict", "SourceConflictPage", "SourceConflictRepairResult"),
        *("DocSchedulingRecord", "CURSOR_START", "CURSOR_END", "CursorAfter"),
    ),
    "lightrag.exceptions": (
        *("APIConnectionError", "APIStatusError", "APITimeoutError", "PipelineCancelledException"),
        *("PipelineNotInitializedError", "QueryValidationError", "RateLimitError", "StorageNotInitializedError"),
    ),
    "lightrag.kg.shared_storage": (
        *("finalize_share_data", "get_default_workspace", "get_namespace_data", "get_namespace_lock"),
        *("get_pipeline_status_lock", "get_storage_keyed_lock", "initialize_pipeline_status"),
        *("initialize_share_data", "set_default_workspace"),
    ),
    "lightrag.llm.anthropic": ("anthropic_complete", "anthropic_complete_if_cache", "anthropic_embed"),
    "lightrag.llm.azure_openai": (*("azure_openai_complete", "azure_openai_complete_if_cache", "azure_openai_embed"),),
    "lightrag.llm.bedrock": ("bedrock_complete", "bedrock_complete_if_cache", "bedrock_embed"),
    "lightrag.llm.gemini": ("gemini_complete_if_cache", "gemini_embed", "gemini_model_complete"),
    "lightrag.llm.jina": ("jina_embed",),
    "lightrag.llm.lollms": ("lollms_embed", "lollms_model_complete", "lollms_model_if_cache"),
    "lightrag.llm.nvidia_openai": ("nvidia_openai_embed",),
    "lightrag.llm.ollama": ("ollama_embed", "ollama_model_complete"),
    "lightrag.llm.openai": (
        *("azure_openai_complete", "azure_openai_complete_if_cache", "azure_openai_embed", "gpt_4o_complete"),
        *("gpt_4o_mini_complete", "nvidia_openai_complete", "openai_complete", "openai_complete_if_cache"),
        "openai_embed",
    ),
    "lightrag.llm.voyageai": ("voyageai_embed",),
    "lightrag.llm.zhipu": ("zhipu_complete", "zhipu_complete_if_cache", "zhipu_embedding"),
    "lightrag.operate": ("chunking_by_token_size",),
    "lightrag.prompt": ("PROMPTS",),
    "lightrag.rerank": ("ali_rerank", "cohere_rerank", "jina_rerank"),
    "lightrag.types": ("KnowledgeGraph", "KnowledgeGraphEdge", "KnowledgeGraphNode"),
    "lightrag.utils": (
        "TokenizerInterface",
        *("EmbeddingFunc", "TiktokenTokenizer", "TokenTracker", "Tokenizer", "always_get_an_event_loop"),
        *("compute_mdhash_id", "logger", "set_verbose_debug", "setup_logger", "wrap_embedding_func_with_attrs"),
    ),
    "lightrag.utils_pipeline": (
        *("doc_status_metadata_carry_over", "doc_status_reset_metadata", "doc_status_transition_metadata"),
        *("_DOC_STATUS_METADATA_CARRY_OVER_KEYS", "_DOC_STATUS_METADATA_DIRECTIVE_KEYS"),
    ),
}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in MODULES.items() for name in names])
def test_a_name_can_be_imported(module: str, name: str) -> None:
    assert getattr(import_module(module), name) is not None


def test_the_package_lists_what_it_exports() -> None:
    assert set(MODULES["lightrag"]) <= set(lightrag.__all__)
    with pytest.raises(AttributeError, match="no attribute 'LightRag'"):
        lightrag.LightRag  # noqa: B018 - what a mistyped import asks for


FIELDS: dict[str, Any] = {
    "working_dir": "./rag_storage",
    "workspace": "",
    "vector_db_storage_cls_kwargs": {},
    "auto_manage_storages_states": False,
    "cosine_better_than_threshold": 0.2,
    "top_k": 40,
    "chunk_top_k": 20,
    "max_entity_tokens": 6000,
    "max_relation_tokens": 8000,
    "max_total_tokens": 30000,
    "related_chunk_number": 5,
    "kg_chunk_pick_method": "VECTOR",
    "enable_content_headings": True,
    "user_prompt_prefix": "",
    "entity_extract_max_gleaning": 1,
    "entity_extract_max_records": 100,
    "entity_extract_max_entities": 40,
    "entity_extraction_use_json": False,
    "force_llm_summary_on_merge": 8,
    "summary_max_tokens": 1200,
    "summary_context_size": 12000,
    "summary_length_recommended": 600,
    "chunk_token_size": 1200,
    "chunk_overlap_token_size": 100,
    "tokenizer": None,
    "tiktoken_model_name": "gpt-4o-mini",
    "embedding_chunk_overlap_token_size": 100,
    "embedding_batch_num": 10,
    "embedding_func_max_async": 8,
    "embedding_cache_config": {"enabled": False, "similarity_threshold": 0.95, "use_llm_check": False},
    "default_embedding_timeout": 30,
    "role_llm_configs": None,
    "llm_model_name": "gpt-4o-mini",
    "llm_model_max_async": 4,
    "llm_model_kwargs": {},
    "default_llm_timeout": 240,
    "enable_llm_cache": True,
    "enable_llm_cache_for_entity_extract": True,
    "vlm_process_enable": False,
    "rerank_model_func": None,
    "rerank_model_max_async": 4,
    "default_rerank_timeout": 30,
    "min_rerank_score": 0.0,
    "max_parallel_insert": 3,
    "max_parallel_parse_mineru": 1,
    "max_parallel_parse_docling": 1,
    "max_parallel_analyze": 5,
    "queue_size_parse": 20,
    "queue_size_analyze": 100,
    "pipeline_scheduling_page_size": 500,
    "pipeline_require_strict_storage_reads": False,
    "max_pending_documents": 0,
    "max_graph_nodes": 1000,
    "max_source_ids_per_entity": 200,
    "max_source_ids_per_relation": 200,
    "source_ids_limit_method": "KEEP",
    "max_file_paths": 75,
    "file_path_more_placeholder": "truncated",
    "addon_params": {},
    "ollama_server_infos": None,
    "log_level": None,
    "log_file_path": None,
}
# Defaults of ours that design/compatibility.md explains.
OWN_DEFAULTS: dict[str, Any] = {
    "kv_storage": "SQLiteKVStorage",
    "vector_storage": "SQLiteVectorDBStorage",
    "graph_storage": "SQLiteGraphStorage",
    "doc_status_storage": "SQLiteDocStatusStorage",
    "chunking_func": None,
    "max_parallel_parse_native": 2,
    "queue_size_insert": 32,
}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LightRAG:
    """An engine with nothing given but its models, in a folder without .env."""
    monkeypatch.chdir(tmp_path)
    return LightRAG(llm_model_func=FactModel(), embedding_func=make_embedding())


@pytest.mark.parametrize("field", [*FIELDS, *OWN_DEFAULTS])
def test_a_field_has_its_default(field: str, bare: LightRAG) -> None:
    assert getattr(bare, field) == {**FIELDS, **OWN_DEFAULTS}[field]


def test_every_field_can_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = {**FIELDS, **OWN_DEFAULTS, "llm_model_func": FactModel(), "embedding_func": make_embedding()}
    assert given.keys() <= {field.name for field in dataclasses.fields(LightRAG) if field.init}
    rag = LightRAG(**given)
    assert rag.embedding_token_limit is None


@pytest.mark.parametrize("missing", ["llm_model_func", "embedding_func"])
def test_a_missing_model_is_a_value_error(missing: str) -> None:
    given = {"llm_model_func": FactModel(), "embedding_func": make_embedding(), missing: None}
    with pytest.raises(ValueError, match=f"{missing} is missing"):
        LightRAG(**given)


QUERY_FIELDS: dict[str, Any] = {
    "mode": "mix",
    "only_need_context": False,
    "only_need_prompt": False,
    "response_type": "Multiple Paragraphs",
    "stream": False,
    "top_k": 40,
    "chunk_top_k": 20,
    "max_entity_tokens": 6000,
    "max_relation_tokens": 8000,
    "max_total_tokens": 30000,
    "hl_keywords": [],
    "ll_keywords": [],
    "conversation_history": [],
    "user_prompt": None,
    "enable_rerank": True,
    "include_references": False,
    "disable_user_prompt_prefix": False,
}


def test_parameters_of_a_query_keep_their_order_and_defaults() -> None:
    fields = dataclasses.fields(QueryParam)[: len(QUERY_FIELDS)]
    param = QueryParam()
    assert {field.name: getattr(param, field.name) for field in fields} == QUERY_FIELDS
    assert [field.name for field in fields] == list(QUERY_FIELDS)
    assert QueryParam("local", True).only_need_context


METHODS: dict[str, str] = {
    "initialize_storages": "",
    "finalize_storages": "",
    "ainsert": "input split_by_character split_by_character_only ids file_paths track_id",
    "apipeline_enqueue_documents": (
        "input ids file_paths track_id docs_format parse_engine process_options chunk_options admission_token from_scan"
    ),
    "apipeline_enqueue_error_documents": "error_files track_id",
    "apipeline_reset_failed_for_scan": "request_id scan_owner_token",
    "arollback_failed_custom_chunk_patches": "pipeline_status pipeline_status_lock",
    "apipeline_process_enqueue_documents": "",
    "ainsert_custom_chunks": "full_text text_chunks doc_id",
    "ainsert_custom_kg": "custom_kg full_doc_id",
    "aquery": "query param system_prompt",
    "aquery_data": "query param",
    "aquery_llm": "query param system_prompt progress_callback",
    "adelete_by_doc_id": "doc_id delete_llm_cache",
    "adelete_by_entity": "entity_name",
    "adelete_by_relation": "source_entity target_entity",
    "get_entity_info": "entity_name include_vector_data",
    "get_relation_info": "src_entity tgt_entity include_vector_data",
    "get_graph_labels": "",
    "get_knowledge_graph": "node_label max_depth max_nodes",
    "get_processing_status": "",
    "aget_docs_by_track_id": "track_id",
    "aget_docs_by_ids": "ids",
    "aedit_entity": "entity_name updated_data allow_rename allow_merge",
    "aedit_relation": "source_entity target_entity updated_data",
    "acreate_entity": "entity_name entity_data",
    "acreate_relation": "source_entity target_entity relation_data",
    "amerge_entities": "source_entities target_entity merge_strategy target_entity_data",
    "aexport_data": "output_path file_format include_vector_data",
    "aclear_cache": "",
    "aupdate_llm_role_config": "role",
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_its_arguments_in_order(name: str) -> None:
    method = getattr(LightRAG, name)
    assert inspect.iscoroutinefunction(method)
    wanted = METHODS[name].split()
    assert list(inspect.signature(method).parameters)[1 : len(wanted) + 1] == wanted


async def test_what_existing_code_asks_an_open_engine_for(tmp_path: Path) -> None:
    engine = LightRAG(working_dir=str(tmp_path), llm_model_func=FactModel(), embedding_func=make_embedding())
    await engine.initialize_storages()
    try:
        await engine.ainsert("Ada -> Oslo: lives there")
        assert engine.tokenizer is not None
        assert engine.tokenizer.decode(engine.tokenizer.encode("Ada lives in Oslo")) == "Ada lives in Oslo"
        for view in (engine, engine.restricted()):
            counts = await view.get_processing_status()
            assert (counts["processed"], counts["failed"], counts["pending"]) == (1, 0, 0)
        graph = (await engine.get_knowledge_graph("*")).model_dump()
        assert [node["id"] for node in graph["nodes"]] == ["Ada", "Oslo"]
        assert (graph["edges"][0]["type"], graph["is_truncated"]) == ("DIRECTED", False)
    finally:
        await engine.finalize_storages()


def test_blocking_twins_show_what_they_take(bare: LightRAG) -> None:
    assert inspect.signature(bare.insert) == inspect.signature(bare.ainsert)
    assert {"insert", "query", "edit_entity", "ainsert"} <= set(dir(bare))
    assert "ctivate" not in dir(bare)


@pytest.mark.parametrize(
    "fields", [{"vector_storage": "QdrantStorage"}, {"kv_storage": "NetworkXStorage"}, {"workspace": "a/b"}]
)
def test_what_cannot_be_opened_is_refused_at_once(fields: dict[str, str], bare: LightRAG) -> None:
    with pytest.raises(ValueError, match=r"choose one of|must be a plain name"):
        LightRAG(llm_model_func=bare.llm_model_func, embedding_func=bare.embedding_func, **fields)


async def test_blocking_twins_refuse_inside_a_loop(bare: LightRAG) -> None:
    for name in METHODS:
        # The change of a role needs no loop, so its twin is a method of its own.
        if name.startswith("a") and name != "aupdate_llm_role_config":
            with pytest.raises(RuntimeError, match="event loop is running"):
                getattr(bare, name.removeprefix("a"))("x")


async def test_the_methods_one_after_another(tmp_path: Path) -> None:
    rag = LightRAG(
        working_dir=str(tmp_path / "store"),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
    )
    await rag.initialize_storages()
    await initialize_pipeline_status()
    track_id = await rag.ainsert("Ann -> Oslo: lives in\nBob -> Rome: visits", ids="doc-a", file_paths="a.md")
    await rag.apipeline_enqueue_documents(["Cyd -> Oslo: left"], ids=["doc-b"], file_paths=["b.md"])
    await rag.apipeline_process_enqueue_documents()
    assert set(await rag.aget_docs_by_track_id(track_id)) == {"doc-a"}
    assert set(await rag.aget_docs_by_ids(["doc-a", "doc-b", "doc-x"])) == {"doc-a", "doc-b"}
    assert await rag.get_processing_status() == {"processed": 2}
    assert await rag.get_graph_labels() == ["Ann", "Bob", "Cyd", "Oslo", "Rome"]

    assert (await rag.get_entity_info("Ann"))["entity_name"] == "Ann"
    assert (await rag.get_relation_info("Ann", "Oslo"))["src_entity"] == "Ann"
    await rag.acreate_entity("Dan", {"description": "built it"})
    await rag.acreate_relation("Dan", "Rome", {"description": "lives in"})
    await rag.aedit_relation("Dan", "Rome", {"description": "left"})
    await rag.aedit_entity("Dan", {"entity_name": "Daniel", "description": "built all of it"})
    await rag.amerge_entities(["Bob"], "Ann")
    assert await rag.get_graph_labels() == ["Ann", "Cyd", "Daniel", "Oslo", "Rome"]
    graph = await rag.get_knowledge_graph("Ann", max_depth=1)
    assert {node.id for node in graph.nodes} == {"Ann", "Oslo", "Rome"}

    await rag.ainsert_custom_kg(
        {
            "chunks": [{"content": "Eve sells maps.", "source_id": "s"}],
            "entities": [{"entity_name": "Eve", "description": "sells maps", "source_id": "s"}],
            "relationships": [
                {"src_id": "Eve", "tgt_id": "Oslo", "description": "sells in", "keywords": "trade", "source_id": "s"}
            ],
        }
    )
    await rag.ainsert_custom_chunks("Fay -> Rome: sings", ["Fay -> Rome: sings"], "doc-c")
    answer = await rag.aquery("Ann lives in Oslo", QueryParam(mode="naive"))
    assert answer == "answer to Ann lives in Oslo"
    data = await rag.aquery_data("Ann lives in Oslo", QueryParam(mode="naive"))
    assert data["status"] == "success"
    steps: list[str] = []
    whole = await rag.aquery_llm("Bob visits Rome", QueryParam(mode="naive"), progress_callback=steps.append)
    assert whole["llm_response"]["content"] == "answer to Bob visits Rome"
    assert steps == ["retrieving_chunks", "generating_response"]

    await rag.aexport_data(str(tmp_path / "graph.csv"))
    assert "# ENTITIES" in (tmp_path / "graph.csv").read_text(encoding="utf-8")
    assert (await rag.adelete_by_relation("Daniel", "Rome")).status == "success"
    assert (await rag.adelete_by_entity("Daniel")).status == "success"
    assert (await rag.adelete_by_doc_id("doc-b")).status == "success"
    await rag.aclear_cache()
    await rag.aupdate_llm_role_config("query", max_async=2)
    await rag.finalize_storages()


async def test_the_functions_of_utils(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import logging

    from lightrag import utils
    from lightrag.operate import chunking_by_token_size
    from lightrag.prompt import PROMPTS

    @utils.wrap_embedding_func_with_attrs(embedding_dim=2, max_token_size=9)
    async def embed(texts: list[str]) -> Any:
        return np.ones((len(texts), 2))

    assert isinstance(embed, utils.EmbeddingFunc)
    assert (await embed(["a"])).shape == (1, 2)
    tokenizer = utils.TiktokenTokenizer()
    rows = chunking_by_token_size(tokenizer, "one two three " * 50, None, False, 5, 40)
    assert {"tokens", "content", "chunk_order_index"} <= set(rows[0])
    assert tokenizer.decode(tokenizer.encode("Grüße")) == "Grüße"
    assert utils.compute_mdhash_id("x", "doc-") == "doc-9dd4e461268c8034f5c8564e155c67a6"
    assert {"rag_response", "naive_rag_response", "keywords_extraction", "fail_response"} <= set(PROMPTS)
    assert utils.logger.name == "lightrag"
    named = logging.getLogger("lightrag-names-test")
    utils.setup_logger("lightrag-names-test", "WARNING", log_file_path=str(tmp_path / "x.log"))
    utils.setup_logger("lightrag-names-test", "INFO", log_file_path=str(tmp_path / "x.log"))
    named.info("once")
    assert (tmp_path / "x.log").read_text().count("once") == 1
    for handler in list(named.handlers):
        named.removeHandler(handler)
        handler.close()
    monkeypatch.setattr(utils.logger, "level", utils.logger.level)
    utils.set_verbose_debug(True)
    assert utils.logger.level == logging.DEBUG
    utils.set_verbose_debug(False)
    assert utils.logger.level == logging.INFO
    import asyncio

    assert utils.always_get_an_event_loop() is asyncio.get_running_loop()


STORAGES: dict[str, tuple[str, ...]] = {
    "kv": tuple(f"{name}KVStorage" for name in ("Json", "Redis", "PG", "Mongo", "OpenSearch")),
    "graph": (
        *("NetworkXStorage", "Neo4JStorage", "PGGraphStorage", "PGTableGraphStorage", "MongoGraphStorage"),
        *("MemgraphStorage", "OpenSearchGraphStorage"),
    ),
    "vector": (
        *("NanoVectorDBStorage", "NoopVectorDBStorage", "MilvusVectorDBStorage", "PGVectorStorage"),
        *("FaissVectorDBStorage", "QdrantVectorDBStorage", "MongoVectorDBStorage", "OpenSearchVectorDBStorage"),
    ),
    "doc_status": tuple(f"{name}DocStatusStorage" for name in ("Json", "Redis", "PG", "Mongo", "OpenSearch")),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in STORAGES.items() for name in names])
def test_a_storage_is_there_or_its_absence_is_told(kind: str, name: str) -> None:
    if name in BACKENDS:
        try:
            assert storage_class(name, kind).__name__ == name
        except MissingDependencyError as error:
            assert f"lightrag-hku[{BACKENDS[name].extra}]" in str(error)  # noqa: PT017 - only where a driver is missing
        return
    with pytest.raises(InputError, match=f"{name!r} is not a {kind} storage; choose one of .*Json|SQLite"):
        storage_class(name, kind)


BASE_METHODS: dict[str, str] = {
    "StorageNameSpace": "initialize finalize index_done_callback drop_pending_index_ops drop",
    "BaseKVStorage": "get_by_id get_by_id_strict get_by_ids filter_keys upsert delete is_empty",
    "BaseVectorStorage": (
        "query upsert delete_entity delete_entity_relation get_by_id get_by_ids delete get_vectors_by_ids"
    ),
    "BaseGraphStorage": (
        "has_node has_edge node_degree edge_degree get_node get_edge get_node_edges get_nodes_batch "
        "node_degrees_batch edge_degrees_batch get_edges_batch get_nodes_edges_batch upsert_node upsert_nodes_batch "
        "has_nodes_batch upsert_edge upsert_edges_batch delete_node remove_nodes remove_edges get_all_labels "
        "get_knowledge_graph get_all_nodes get_all_edges get_popular_labels search_labels"
    ),
    "DocStatusStorage": (
        "get_status_counts get_all_status_counts get_docs_by_statuses get_docs_by_track_id get_docs_paginated "
        "get_doc_by_file_path get_doc_by_content_hash get_docs_by_statuses_page update_doc_status_fields "
        "get_doc_by_file_basename get_docs_by_ids get_full_docs_by_ids count_docs_by_statuses "
        "resolve_doc_source_strict list_source_conflicts_page repair_source_conflict"
    ),
}


@pytest.mark.parametrize(
    ("base", "name"), [(base, name) for base, names in BASE_METHODS.items() for name in names.split()]
)
def test_a_store_has_its_methods(base: str, name: str) -> None:
    assert inspect.iscoroutinefunction(getattr(getattr(import_module("lightrag.base"), base), name))
