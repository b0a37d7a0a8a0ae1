"""Azure against a local server: addresses, versions, keys, deployments."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest

from lightrag.embedding.registry import EmbeddingAttributes, create_embedding
from lightrag.exceptions import InputError
from lightrag.llm import azure_openai as binding
from lightrag.llm.openai import azure_openai_complete, azure_openai_complete_if_cache, azure_openai_embed
from lightrag.llm.registry import create_llm
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError
from tests.llm.behaviours import stops_in_time, stops_with_its_caller, stops_with_its_reader
from tests.llm.stub_server import Exchange, StubServer
from tests.llm.test_openai import completion, embedded, event

KEY = "0123456789abcdef"


async def ask(stub: StubServer, **kwargs: Any) -> Any:
    return await azure_openai_complete_if_cache("my-gpt", "Who?", base_url=stub.url, api_key=KEY, **kwargs)


async def test_a_reply_and_what_was_sent(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(completion("Alice."))
    assert await ask(stub, system_prompt="Be brief.", temperature=0.3) == "Alice."
    request = stub.requests[0]
    assert request.path == f"/openai/deployments/my-gpt/chat/completions?api-version={binding.DEFAULT_API_VERSION}"
    assert request.headers["api-key"] == KEY
    assert request.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert request.body["temperature"] == 0.3
    await ask(stub, api_version="2030-01-01", azure_deployment="other")
    assert stub.requests[1].path == "/openai/deployments/other/chat/completions?api-version=2030-01-01"


async def test_settings_fill_in_what_is_not_given(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers(completion("Yes."))
    with pytest.raises(InputError, match="AZURE_OPENAI_ENDPOINT"):
        await azure_openai_complete("Q", model="m")
    no_keys.setenv("AZURE_OPENAI_ENDPOINT", stub.url)
    no_keys.setenv("AZURE_OPENAI_API_KEY", KEY)
    no_keys.setenv("AZURE_OPENAI_API_VERSION", "2029-09-09")
    no_keys.setenv("AZURE_OPENAI_DEPLOYMENT", "from-settings")
    await azure_openai_complete("Q")
    await azure_openai_complete("Q", model="named")
    assert [request.path for request in stub.requests] == [
        f"/openai/deployments/{name}/chat/completions?api-version=2029-09-09" for name in ("from-settings", "named")
    ], "the deployment of the settings answers only when no model is named"
    assert stub.requests[0].headers["api-key"] == KEY


async def test_a_refusal_hides_the_key(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    stub.answers({"error": {"message": f"bad key {KEY}", "code": "401"}}, 401)
    with pytest.raises(ProviderError, match=r"bad key \*\*\*") as caught:
        await ask(stub)
    assert caught.value.status_code == 401


async def test_vectors(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    vectors = np.array([[0.5, -1.0], [2.0, 3.0]], dtype=np.float32)
    stub.answers(embedded([row.tolist() for row in vectors]))
    found = await azure_openai_embed.func(["a", "b"], model="my-ada", base_url=stub.url, api_key=KEY, embedding_dim=2)
    np.testing.assert_array_equal(found, vectors)
    assert stub.requests[0].path.startswith("/openai/deployments/my-ada/embeddings?")
    assert stub.requests[0].body["dimensions"] == 2
    no_keys.setenv("AZURE_EMBEDDING_ENDPOINT", stub.url)
    no_keys.setenv("AZURE_EMBEDDING_API_KEY", "other-key")
    no_keys.setenv("AZURE_EMBEDDING_API_VERSION", "2028-08-08")
    no_keys.setenv("AZURE_EMBEDDING_DEPLOYMENT", "from-settings")
    await azure_openai_embed.func(["a", "b"])
    assert stub.requests[1].path == "/openai/deployments/from-settings/embeddings?api-version=2028-08-08"
    assert stub.requests[1].headers["api-key"] == "other-key"


async def test_by_its_name(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    endpoint = ModelEndpoint("dep", stub.url, KEY, 5.0, {"api_version": "2027-07-07"})
    stub.answers(completion("Yes."))
    assert await create_llm("azure_openai", endpoint)("Q") == "Yes."
    stub.answers(embedded([[1.0, 2.0]]))
    vectors = await create_embedding("azure_openai", endpoint, EmbeddingAttributes(2))(["a"])
    assert vectors.tolist() == [[1.0, 2.0]]
    assert all("/deployments/dep/" in request.path and "2027-07-07" in request.path for request in stub.requests)


async def test_it_stops(stub: StubServer, no_keys: pytest.MonkeyPatch) -> None:
    await stops_with_its_caller(stub, partial(ask, stub))
    await stops_in_time(stub, partial(ask, stub))

    async def handler(exchange: Exchange) -> None:
        await exchange.start_stream("text/event-stream")
        await exchange.send_chunk(f"data: {json.dumps(event({'content': 'One'}))}\n\n".encode())
        await exchange.wait_for_hang_up()
        stub.hung_up.set()

    stub.handler = handler
    await stops_with_its_reader(stub, partial(ask, stub))
