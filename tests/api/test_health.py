"""Liveness, and how the server is set up."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Serve, Server

ANONYMOUS = {
    "status", "auth_mode", "core_version", "api_version", "webui_available", "workspace_available",
    "api_docs_available", "webui_title", "webui_description", "ai_content_notice_enabled", "pipeline_busy",
    "pipeline_active",
}  # fmt: skip
FULL = {
    "working_directory", "input_directory", "configuration", "server_mode", "workers", "pipeline_scanning",
    "pipeline_destructive_busy", "pipeline_pending_enqueues", "scheduling", "capabilities", "scheduling_metrics",
    "keyed_locks", "llm_queue_status", "embedding_queue_status", "rerank_queue_status",
    "model_usage",
}  # fmt: skip
CONFIGURATION = {
    "llm_binding", "llm_binding_host", "llm_model", "embedding_binding", "embedding_binding_host", "embedding_model",
    "summary_max_tokens", "summary_context_size", "kv_storage", "doc_status_storage", "graph_storage", "vector_storage",
    "enable_llm_cache_for_extract", "enable_llm_cache", "vlm_process_enable", "workspace", "storage_workspaces",
    "max_graph_nodes", "enable_rerank", "rerank_binding", "rerank_model", "rerank_binding_host", "rerank_max_async",
    "rerank_timeout", "summary_language", "force_llm_summary_on_merge", "max_parallel_insert", "cosine_threshold",
    "min_rerank_score", "related_chunk_number", "max_async", "llm_timeout", "embedding_func_max_async",
    "embedding_batch_num", "embedding_timeout", "role_llm_config", "parser_routing", "mineru", "docling",
}  # fmt: skip


async def test_health_of_an_open_server(server: Server) -> None:
    answer = await server.client.get("/health")
    assert answer.status_code == 200
    told = answer.json()
    assert set(told) == ANONYMOUS | FULL
    assert set(told["configuration"]) >= CONFIGURATION
    assert told["status"] == "healthy"
    assert told["api_version"] == "0344"


async def test_strangers_see_little_and_callers_all(serve: Serve) -> None:
    server = await serve(lightrag_api_key="a-secret-key", llm_binding_api_key="another-secret")
    stranger = await server.client.get("/health")
    assert set(stranger.json()) == ANONYMOUS
    known = await server.client.get("/health", headers={"X-API-Key": "a-secret-key"})
    assert set(known.json()) == ANONYMOUS | FULL
    assert "secret" not in known.text


async def test_health_can_be_closed(serve: Serve) -> None:
    server = await serve(lightrag_api_key="k", whitelist_paths="")
    assert (await server.client.get("/health")).status_code == 403


async def test_health_asks_no_store(server: Server) -> None:
    await server.add()

    class Broken:
        def __getattr__(self, name: str) -> None:
            raise AssertionError(f"/health asked a store for {name}")

    context = server.engine.context
    stores, context.stores = context.stores, Broken()  # type: ignore[assignment]
    try:
        assert (await server.client.get("/health")).status_code == 200
    finally:
        context.stores = stores


async def test_each_role_has_its_model_its_queue_and_its_usage(serve: Serve) -> None:
    async def other(prompt: str, system_prompt: str | None = None, **_kwargs: Any) -> str:
        return "an answer"

    own = {"func": other, "max_async": 2, "metadata": {"model": "answerer", "binding": "openai", "host": "http://a"}}
    server = await serve({"llm_model_name": "base", "role_llm_configs": {"query": own}})
    await server.add()
    await server.client.post("/query", json={"query": "Who wrote the first program?", "mode": "naive"})
    told = (await server.client.get("/health")).json()
    roles = told["configuration"]["role_llm_config"]
    assert set(roles) == {"extract", "keyword", "query", "vlm"}
    assert roles["extract"]["model"] == "base"
    shown = {name: roles["query"][name] for name in ("binding", "model", "host", "max_async")}
    assert shown == {"binding": "openai", "model": "answerer", "host": "http://a", "max_async": 2}
    assert set(told["llm_queue_status"]) == {"extract", "keyword", "query"}
    assert told["llm_queue_status"]["query"]["max_async"] == 2
    assert told["llm_queue_status"]["query"]["done"] == 1
    assert told["model_usage"]["query"]["calls"] == 1
    assert told["model_usage"]["query"]["completion_tokens"] > 0
    assert told["model_usage"]["embedding"]["prompt_tokens"] > 0
    assert told["model_usage"]["extract"]["failed"] == 0
