"""Requests made up from the OpenAPI document, right ones and wrong ones: whatever is sent, the server never fails."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings

from lightrag import LightRAG
from lightrag.api.app import create_app
from lightrag.settings_api import load_api_settings
from tests.api.conftest import FACTS, StreamingFactModel
from tests.fakes.facts import make_embedding

EXAMPLES = 12
# Of these no request can be wrong: they take nothing, or any text.
NEVER_WRONG = {"GET /health", "GET /auth-status", "GET /", "GET /ui/customization/assets/{asset_hash}/{asset_id}"}


def operations() -> list[tuple[str, str]]:
    document = json.loads((Path(__file__).parent / "openapi.json").read_text(encoding="utf-8"))
    names = [f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods]
    return [
        (name, mode)
        for name in names
        for mode in ("positive", "negative")
        if mode == "positive" or name not in NEVER_WRONG
    ]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with scopes, in a thread of its own."""
    folder = tmp_path_factory.mktemp("schemathesis")
    engine = LightRAG(
        working_dir=str(folder / "store"),
        llm_model_func=StreamingFactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        scope_tag_prefixes=["tenant:"],
        enable_kg_scope_materialization=True,
    )
    options = load_api_settings(input_dir=str(folder / "inputs"), host="127.0.0.1", shutdown_seconds=5)
    config = uvicorn.Config(create_app(options, engine=engine), host="127.0.0.1", port=0, log_config=None)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def api(address: str) -> Any:
    return schemathesis.openapi.from_url(f"{address}/openapi.json")


@pytest.fixture(autouse=True)
def corpus(address: str) -> None:
    """There is a document, whatever the last test deleted."""
    text = {"text": FACTS, "file_source": "facts.md", "metadata": {"tags": ["tenant:1", "type:note"]}}
    answer = httpx.post(f"{address}/documents/text", json=text, timeout=30)
    assert answer.status_code in (200, 409), answer.text


@pytest.mark.parametrize(("operation", "mode"), operations())
def test_no_request_makes_the_server_fail(api: Any, operation: str, mode: str) -> None:
    method, path = operation.split()

    @given(case=api[path][method].as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        answer = case.call()
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)

    ask()
