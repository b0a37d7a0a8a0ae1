"""Figures for Prometheus."""

from __future__ import annotations

from tests.api.conftest import Serve, Server


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
        'lightrag_cache_lookups_total{outcome="hit"} 0.0',
        'lightrag_model_seconds_total{role="extract"} ',
        'lightrag_model_tokens_total{kind="prompt",role="extract"} ',
    ):
        assert line in text, line


async def test_figures_of_the_cache(server: Server) -> None:
    await server.add()
    question = {"query": "Ada wrote the first program for the Engine", "mode": "naive"}

    async def lookups() -> dict[str, float]:
        text = (await server.client.get("/metrics")).text
        return {
            outcome: float(text.partition(f'lightrag_cache_lookups_total{{outcome="{outcome}"}} ')[2].split()[0])
            for outcome in ("hit", "miss")
        }

    await server.client.post("/query", json=question)
    before = await lookups()
    assert before["miss"] > 0
    await server.client.post("/query", json=question)
    assert await lookups() == {"hit": before["hit"] + 1, "miss": before["miss"]}


async def test_figures_need_a_credential_and_can_be_off(serve: Serve) -> None:
    server = await serve(lightrag_api_key="k")
    assert (await server.client.get("/metrics")).status_code == 403
    assert (await server.client.get("/metrics", headers={"X-API-Key": "k"})).status_code == 200


async def test_figures_can_be_off(serve: Serve) -> None:
    server = await serve(enable_metrics=False)
    assert (await server.client.get("/metrics")).status_code == 404
