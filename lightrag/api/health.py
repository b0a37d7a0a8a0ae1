"""The fields of ``GET /health``. Settings and figures in memory only: no store is asked, no secret is shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import lightrag.settings as engine_settings
from lightrag.api import API_VERSION
from lightrag.api.state import ServerState
from lightrag.api.version import core_version


def server_face(state: ServerState) -> dict[str, Any]:
    """Return what pages show of the server."""
    return {
        "core_version": core_version(),
        "api_version": API_VERSION,
        "webui_title": state.settings.webui_title or None,
        "webui_description": state.settings.webui_description or None,
        "ai_content_notice_enabled": state.settings.enable_ai_content_notice,
    }


def anonymous_health(state: ServerState) -> dict[str, Any]:
    """Return what everybody may see."""
    pipeline = state.engine.pipeline_status()
    return {
        "status": "healthy",
        "auth_mode": state.access.mode,
        **server_face(state),
        "webui_available": state.web_ui is not None,
        "workspace_available": False,
        "api_docs_available": state.settings.enable_api_docs,
        "pipeline_busy": pipeline["busy"],
        "pipeline_active": pipeline["busy"] or state.scans.is_running or state.intake.storing > 0,
    }


def full_health(state: ServerState) -> dict[str, Any]:
    """Return what those who may use the server see besides."""
    models = state.engine.context.models
    pipeline = state.engine.pipeline_status()
    return {
        "working_directory": state.engine.working_dir,
        "input_directory": str(state.inputs.root),
        "configuration": _configuration(state),
        "server_mode": "uvicorn",
        "workers": 1,
        "pipeline_scanning": state.scans.is_running,
        "pipeline_destructive_busy": pipeline["destructive_busy"],
        "pipeline_pending_enqueues": state.intake.storing,
        "scheduling": {},
        "capabilities": {"document_metadata": True, "query_filters": True, "multi_file_upload": True},
        "scheduling_metrics": {},
        "keyed_locks": {},
        "llm_queue_status": {model.role: asdict(model.calls.status()) for model in models.text_models()},
        "embedding_queue_status": asdict(models.embedder.calls.status()),
        "rerank_queue_status": asdict(models.rerank.status()) if models.rerank is not None else {},
        "model_usage": {role: asdict(usage) for role, usage in state.engine.usage().items()},
    }


def _configuration(state: ServerState) -> dict[str, Any]:
    server, engine = state.settings, state.engine.context.settings
    return {
        "llm_binding": server.llm_binding,
        "llm_binding_host": server.llm_binding_host,
        "llm_model": engine.llm_model_name,
        "embedding_binding": server.embedding_binding,
        "embedding_binding_host": server.embedding_binding_host,
        "embedding_model": server.embedding_model or server.embedding_binding,
        **_storages(state, engine),
        "vlm_process_enable": False,
        "enable_rerank": server.rerank_binding != "null",
        "rerank_binding": server.rerank_binding,
        "rerank_model": server.rerank_model or None,
        "rerank_binding_host": server.rerank_binding_host or None,
        "rerank_max_async": engine.rerank_model_max_async,
        "rerank_timeout": engine.default_rerank_timeout,
        "summary_language": engine.summary_language,
        "summary_max_tokens": engine.summary_max_tokens,
        "summary_context_size": engine.summary_context_size,
        "force_llm_summary_on_merge": engine.force_llm_summary_on_merge,
        "max_parallel_insert": engine.max_parallel_insert,
        "max_graph_nodes": engine.max_graph_nodes,
        "cosine_threshold": engine.cosine_better_than_threshold,
        "min_rerank_score": engine.min_rerank_score,
        "related_chunk_number": engine.related_chunk_number,
        "max_async": engine.llm_model_max_async,
        "llm_timeout": engine.default_llm_timeout,
        "embedding_func_max_async": engine.embedding_func_max_async,
        "embedding_batch_num": engine.embedding_batch_num,
        "embedding_timeout": engine.default_embedding_timeout,
        "role_llm_config": state.engine.get_llm_role_config(),
        "parser_routing": "",
        "mineru": {},
        "docling": {},
    }


def _storages(state: ServerState, engine: engine_settings.Settings) -> dict[str, Any]:
    return {
        "kv_storage": engine.kv_storage,
        "doc_status_storage": engine.doc_status_storage,
        "graph_storage": engine.graph_storage,
        "vector_storage": engine.vector_storage,
        "enable_llm_cache": engine.enable_llm_cache,
        "enable_llm_cache_for_extract": engine.enable_llm_cache_for_entity_extract,
        "workspace": state.engine.workspace,
        "storage_workspaces": {},
        "enable_vector_metadata_filters": engine.enable_vector_metadata_filters,
        "scope_tag_prefixes": engine.scope_tag_prefixes,
        "enable_kg_scope_materialization": engine.enable_kg_scope_materialization,
    }
