"""Liveness, figures, start page."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

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
        begin = time.perf_counter()
        for _ in range(50):
            assert (await server.client.get("/health")).status_code == 200
        assert (time.perf_counter() - begin) / 50 < 0.1
    finally:
        context.stores = stores


async def test_figures(serve: Serve) -> None:
    server = await serve()
    await server.add()
    await server.client.post("/query", json={"query": "Who wrote it?", "required_tags": ["x"]})
    await server.client.post(
        "/query/data", json={"query": "Ada wrote the first program for the Engine", "mode": "naive"}
    )
    await server.client.post("/documents/upload", files=[("file", ("x.exe", b"x"))])
    await server.client.get("/no/such/path")
    text = (await server.client.get("/metrics")).text
    for line in (
        'lightrag_http_requests_total{method="POST",route="/query",status="200"} 1.0',
        'lightrag_http_requests_total{method="GET",route="(none)",status="404"} 1.0',
        'lightrag_documents{status="processed"} 1.0',
        "lightrag_pipeline_busy 0.0",
        'lightrag_documents_accepted_total{way="text"} 1.0',
        'lightrag_documents_refused_total{code="invalid_input"} 1.0',
        'lightrag_query_seconds_count{filtered="true",mode="mix",outcome="no_results"} 1.0',
        'lightrag_query_seconds_count{filtered="false",mode="naive",outcome="success"} 1.0',
        'lightrag_model_calls_running{model="llm"} 0.0',
        'lightrag_model_calls_total{model="embedding",outcome="failed"} 0.0',
    ):
        assert line in text, line


async def test_figures_need_a_credential_and_can_be_off(serve: Serve) -> None:
    server = await serve(lightrag_api_key="k")
    assert (await server.client.get("/metrics")).status_code == 403
    assert (await server.client.get("/metrics", headers={"X-API-Key": "k"})).status_code == 200


async def test_figures_can_be_off(serve: Serve) -> None:
    server = await serve(enable_metrics=False)
    assert (await server.client.get("/metrics")).status_code == 404


@pytest.mark.parametrize(("built", "place"), [(True, "/webui/"), (False, "/docs")])
async def test_start_page(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: bool, place: str
) -> None:
    if built:
        (tmp_path / "index.html").write_text("page", encoding="utf-8")
    monkeypatch.setattr("lightrag.api.app.WEB_UI_FOLDER", tmp_path)
    server = await serve()
    answer = await server.client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (307, place)


async def test_customization(serve: Serve) -> None:
    server = await serve(webui_title="Archive", lightrag_api_key="k")
    answer = await server.client.get("/ui/customization", params={"locale": "en"})
    assert answer.json() == {"customized": False, "brand": {"title": "Archive", "description": None}}
    assert answer.headers["Cache-Control"] == "no-store"
    assert (await server.client.get("/ui/customization/assets/abc/logo.png")).status_code == 404
