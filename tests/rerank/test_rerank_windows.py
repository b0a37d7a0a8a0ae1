"""Documents that are too long for a reranker."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.configured import build_engine
from lightrag.exceptions import InputError
from lightrag.rerank import ali_rerank, cohere_rerank, jina_rerank
from lightrag.rerank.windows import by_windows
from lightrag.settings_api import load_api_settings
from tests.compat.marked_models import ByteTokenizer
from tests.llm.stub_server import StubServer, running_stub


class Scores:
    """A reranker that counts a letter, and gives every document a score."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], int | None]] = []

    async def __call__(self, query: str, documents: list[str], top_n: int | None = None, **_: Any) -> Any:
        self.calls.append((documents, top_n))
        ranked = [{"index": i, "relevance_score": text.count(query) / len(text)} for i, text in enumerate(documents)]
        return sorted(ranked, key=lambda item: -item["relevance_score"])[:top_n]


async def test_the_best_window_speaks_for_its_document() -> None:
    model = Scores()
    rerank = by_windows(model, ByteTokenizer, 100)
    long = "." * 250 + "x" * 20
    ranked = await rerank(query="x", documents=[long, "short x", "." * 90], top_n=2)
    assert [item["index"] for item in ranked] == [0, 1]
    assert ranked[0]["relevance_score"] > ranked[1]["relevance_score"]
    ((pieces, top_n),) = model.calls
    assert top_n is None
    assert len(pieces) == 6
    assert max(map(len, pieces)) <= 100
    assert pieces[-2:] == ["short x", "." * 90]


async def test_documents_that_fit_go_as_they_are() -> None:
    model = Scores()
    rerank = by_windows(model, ByteTokenizer, 100)
    assert [item["index"] for item in await rerank(query="x", documents=["a", "x"], top_n=1)] == [1]
    assert model.calls == [(["a", "x"], 1)]


def test_windows_have_a_size() -> None:
    with pytest.raises(InputError, match="max_tokens_per_doc 0 must be at least 1"):
        by_windows(Scores(), ByteTokenizer, 0)


@pytest.mark.parametrize("function", [jina_rerank, cohere_rerank, ali_rerank])
async def test_the_functions_that_users_import(function: Any) -> None:
    words = " ".join(f"word{number}" for number in range(300))

    async with running_stub() as stub:
        stub.answers({"results": [{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.1}]})
        place = {"base_url": f"{stub.url}/rerank", "api_key": "k"}
        ranked = await function("q", [words], enable_chunking=True, max_tokens_per_doc=200, **place)
        assert ranked == [{"index": 0, "relevance_score": 0.5}]
        body = stub.requests[0].body
        sent = body.get("documents") or body["input"]["documents"]
        assert len(sent) > 1
        await function("q", [words, "b"], max_tokens_per_doc=200, **place)
        body = stub.requests[1].body
        assert (body.get("documents") or body["input"]["documents"]) == [words, "b"]


async def test_it_is_a_setting(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def sent(stub: StubServer, **environment: str) -> int:
        settings = {"RERANK_BINDING": "jina", "RERANK_BINDING_HOST": stub.url, "RERANK_BINDING_API_KEY": "k"}
        for name, value in {**settings, **environment}.items():
            monkeypatch.setenv(name, value)
        rerank: Any = build_engine(load_api_settings()).rerank_model_func
        await rerank(query="q", documents=["one two three four five six seven eight"], top_n=1)
        return len(stub.requests[-1].body["documents"])

    async with running_stub() as stub:
        stub.answers({"results": [{"index": 0, "relevance_score": 0.5}]})
        assert await sent(stub) == 1
        assert await sent(stub, RERANK_ENABLE_CHUNKING="true") == 1
        assert await sent(stub, RERANK_MAX_TOKENS_PER_DOC="4") > 1
