"""What a hostile or unlucky world hands in: each a clear error or a failed row, and everything behind it processed."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

from lightrag import QueryParam
from lightrag.contracts.models import EmbeddingFunc
from lightrag.exceptions import EmbeddingMismatchError, InputError, QueryValidationError, StorageFullError
from lightrag.prompts.rendering import DOCUMENT_MARKER, between
from tests.fakes.audit import disagreements
from tests.fakes.facts import DIMENSION, FactModel, embed_text
from tests.flow.conftest import EngineFactory

GOOD = "Ada -> Velmouth: Ada surveyed Velmouth\n"


async def rows_of(engine: Any, track_id: str) -> dict[str, Any]:
    return {row.file_path: row for row in (await engine.aget_docs_by_track_id(track_id)).values()}


def embedding(spoil: Any) -> EmbeddingFunc:
    async def embed(texts: list[str]) -> np.ndarray:
        return np.stack([spoil(text, embed_text(text)) for text in texts])

    return EmbeddingFunc(embedding_dim=DIMENSION, func=embed, model_name="spoilt")


async def test_a_line_of_a_million_characters(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    track_id = await engine.ainsert(["x" * 1_000_000, GOOD], file_paths=["long.txt", "good.md"])
    rows = await rows_of(engine, track_id)
    assert {path: row.status.value for path, row in rows.items()} == {"long.txt": "processed", "good.md": "processed"}
    assert rows["long.txt"].content_length == 1_000_000


async def test_vectors_that_are_no_numbers(make_engine: EngineFactory) -> None:
    def spoil(text: str, vector: np.ndarray) -> np.ndarray:
        return vector * np.nan if "spoil" in text else vector

    engine = await make_engine(embedding_func=embedding(spoil))
    track_id = await engine.ainsert(["spoil me", GOOD], file_paths=["bad.md", "good.md"])
    rows = await rows_of(engine, track_id)
    assert rows["bad.md"].status == "failed"
    assert "NaN" in rows["bad.md"].error_msg
    assert rows["good.md"].status == "processed"
    with pytest.raises(EmbeddingMismatchError, match="NaN"):
        await engine.aquery_data("spoil", QueryParam(mode="naive"))


async def test_vectors_of_another_dimension(make_engine: EngineFactory) -> None:
    async def embed(texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), DIMENSION - 1), dtype=np.float32)

    engine = await make_engine(embedding_func=EmbeddingFunc(embedding_dim=DIMENSION, func=embed))
    track_id = await engine.ainsert(GOOD, file_paths="good.md")
    row = (await rows_of(engine, track_id))["good.md"]
    assert row.status == "failed"
    assert f"({DIMENSION - 1}" in row.error_msg or f", {DIMENSION - 1})" in row.error_msg


async def test_zero_vectors_are_kept_and_never_found(make_engine: EngineFactory) -> None:
    engine = await make_engine(
        embedding_func=embedding(lambda text, vector: vector * 0.0 if "void" in text else vector)
    )
    track_id = await engine.ainsert(["void words", GOOD], file_paths=["void.md", "good.md"])
    assert {row.status.value for row in (await rows_of(engine, track_id)).values()} == {"processed"}
    data = await engine.aquery_data("Velmouth", QueryParam(mode="naive"))
    assert [chunk["file_path"] for chunk in data["data"]["chunks"]] == ["good.md"]
    nothing = await engine.aquery_data("void", QueryParam(mode="naive"))
    assert nothing["status"] == "failure"


async def test_a_model_that_hangs(make_engine: EngineFactory) -> None:
    class Hanging(FactModel):
        async def __call__(self, prompt: str, *args: Any, **kwargs: Any) -> str:
            if "hang here" in prompt:
                await asyncio.sleep(3600)
            return await super().__call__(prompt, *args, **kwargs)

    engine = await make_engine(Hanging(), default_llm_timeout=1)
    track_id = await engine.ainsert(["hang here", GOOD], file_paths=["hang.md", "good.md"])
    rows = await rows_of(engine, track_id)
    assert rows["hang.md"].status == "failed"
    assert "1 s" in rows["hang.md"].error_msg
    assert rows["good.md"].status == "processed"


@pytest.mark.parametrize("reply", [None, 7, {"text": "x"}, b"bytes"])
async def test_a_model_that_returns_no_text(make_engine: EngineFactory, reply: Any) -> None:
    class Odd(FactModel):
        async def __call__(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
            return reply

    engine = await make_engine(Odd())
    track_id = await engine.ainsert(GOOD, file_paths="good.md")
    row = (await rows_of(engine, track_id))["good.md"]
    assert row.status == "failed"
    assert type(reply).__name__ in row.error_msg


@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_that_cuts_characters_in_half(make_engine: EngineFactory, stream: bool) -> None:
    async def pieces() -> AsyncIterator[str]:
        for piece in ("Ada is glad \ud83d", "\ude00 and \ud83d"):
            yield piece

    class Cutting(FactModel):
        async def __call__(self, prompt: str, system_prompt: str | None = None, **kwargs: Any) -> Any:
            if between(prompt, DOCUMENT_MARKER):
                return "entity<|#|>Ada<|#|>person<|#|>Ada is glad \ud83d\ude00 and \ud83d\n<|COMPLETE|>"
            return pieces() if kwargs.get("stream") else "Ada is glad \ud83d\ude00 and \ud83d"

    engine = await make_engine(Cutting())
    track_id = await engine.ainsert([GOOD, "Another text."], file_paths=["a.md", "b.md"])
    assert {row.status for row in (await rows_of(engine, track_id)).values()} == {"processed"}
    node = await engine.chunk_entity_relation_graph.get_node("Ada")
    assert node is not None
    assert "glad \U0001f600 and" in node["description"]
    for _ in range(2):
        answer = await engine.aquery("Is Ada glad?", QueryParam(mode="mix", stream=stream))
        text = answer if isinstance(answer, str) else "".join([piece async for piece in answer])
        assert text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") == "Ada is glad \U0001f600 and \ufffd"
    await engine.finalize_storages()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input": ["a", "b"], "ids": ["1"]}, "ids has 1 entries for 2 documents"),
        ({"input": ["a", "b"], "ids": ["1", "1"]}, "more than once"),
        ({"input": ["a"], "ids": [" "]}, "ids holds ' '"),
        ({"input": ["a", 7]}, "must be text, not int"),
        ({"input": None}, "the documents must be given as a text or a list of texts, not NoneType"),
        ({"input": (text for text in "ab")}, "not generator"),
        ({"input": b"a"}, "not bytes"),
        ({"input": {"a": "b"}}, "not dict"),
        ({"input": "a", "ids": 7}, "ids must be given as a text or a list of texts, not int"),
        ({"input": "a", "file_paths": {"x"}}, "file_paths must be given as a text or a list of texts, not set"),
        ({"input": ["a"], "file_paths": ["x", "y"]}, "file_paths has 2 entries"),
        ({"input": ["a"], "metadata": {"tag": ["x"]}}, "tags"),
        ({"input": ["a"], "metadata": {"start_date": "2020-01-01"}}, "offset|zone"),
    ],
)
async def test_arguments_that_do_not_fit(make_engine: EngineFactory, arguments: dict[str, Any], message: str) -> None:
    engine = await make_engine()
    with pytest.raises(InputError, match=message):
        await engine.ainsert(**arguments)
    assert await engine.get_processing_status() == {}


async def test_views_of_a_dictionary_are_lists(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    texts = {"a": "One text.", "b": "Another text."}
    await engine.ainsert(texts.values(), ids=texts.keys(), file_paths=texts.keys())
    assert set(await engine.aget_docs_by_ids(["a", "b"])) == {"a", "b"}


WRONG_KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "param": (
        lambda engine: engine.aquery("Who?", {"mode": "mix"}),
        r"param is {'mode': 'mix'}; it must be a QueryParam",
    ),
    "mode for param": (lambda engine: engine.aquery_data("Who?", "mix"), "param is 'mix'; it must be a QueryParam"),
    "depth": (lambda engine: engine.get_knowledge_graph("*", "2"), "max_depth='2' must be 0 or more"),
    "entity": (lambda engine: engine.acreate_entity("Ada", "a person"), "is 'a person'; it must be a dict"),
    "merge": (
        lambda engine: engine.amerge_entities(["Ada"], "Bo", target_entity_data="x"),
        "target_entity_data is 'x'; it must be a dict",
    ),
    "engine": (
        lambda engine: engine.apipeline_enqueue_documents("a", parse_engine=7),
        "parse_engine is 7; give one for all documents, or a list with one for each",
    ),
}


@pytest.mark.parametrize("kind", WRONG_KINDS)
async def test_arguments_of_the_wrong_kind(make_engine: EngineFactory, kind: str) -> None:
    call, message = WRONG_KINDS[kind]
    with pytest.raises((InputError, QueryValidationError), match=message):
        await call(await make_engine())


async def test_names_and_texts_that_poison_stores(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    nasty = "A\x00B\x1f -> \ud800C\u202e: text\x07 with \ufffe and <SEP> and 👩‍👩‍👧‍👦\n"
    track_id = await engine.ainsert([nasty, GOOD], file_paths=["a\x00b\ud800.md", "../../etc/passwd"])
    rows = await rows_of(engine, track_id)
    assert set(rows) == {"ab.md", "etc/passwd"}
    assert {row.status.value for row in rows.values()} == {"processed"}
    labels = await engine.get_graph_labels()
    assert not any(character in label for label in labels for character in "\x00\x1f\u202e\ud800")
    assert "<SEP>" not in str(await engine.aquery_data("text", QueryParam(mode="naive"))).replace("<SEP> and", "")
    await engine.finalize_storages()
    again = await make_engine()
    assert await again.get_graph_labels() == labels


async def test_a_full_disk(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(GOOD, ids="before", file_paths="before.md")
    room(engine, 12)
    texts = [f"Bo -> Place {number}: Bo came {number}\n" + f"word{number} " * 4000 for number in range(6)]
    ids = [f"d{number}" for number in range(6)]
    with pytest.raises(StorageFullError, match="sqlite"):
        await engine.ainsert(texts, ids=ids, file_paths=[f"{name}.md" for name in ids])
    assert await engine.aget_docs_by_ids(ids) == {}
    room(engine, 80)
    with contextlib.suppress(StorageFullError):
        for name, text in zip(ids, texts, strict=True):
            await engine.ainsert(text, ids=name, file_paths=f"{name}.md")
    rows = await engine.aget_docs_by_ids(ids)
    assert any(row.status != "processed" for row in rows.values()) or len(rows) < len(ids)
    assert await disagreements(engine) == []
    room(engine, None)
    await engine.aretry_failed_documents()
    await engine.ainsert(texts, ids=ids, file_paths=[f"{name}.md" for name in ids])
    assert {row.status.value for row in (await engine.aget_docs_by_ids([*ids, "before"])).values()} == {"processed"}
    assert await disagreements(engine) == []


def room(engine: Any, pages: int | None) -> None:
    """Let the database grow by so many pages of 4 KiB more, or without limit."""

    def limit(connection: sqlite3.Connection) -> None:
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={2**30 if pages is None else used + pages}")

    engine.context.stores.full_docs.database.exclusive(limit).result()
