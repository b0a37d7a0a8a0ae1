"""Cutting where the meaning changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.chunker.boundaries import may_cut
from lightrag.chunker.options import ChunkOptions
from lightrag.chunker.registry import chunk_text, chunk_text_async
from lightrag.chunker.semantic import breakpoints
from lightrag.chunker.sentences import sentence_spans
from lightrag.exceptions import InputError, ModelError, ModelReplyError
from lightrag.runtime.tokens import TiktokenTokenizer

BPE = TiktokenTokenizer()
PORTS = ["The harbour was dredged.", "Its quay is long.", "Ships wait in the harbour.", "The pilots know the quay."]
BREAD = ["Bread needs flour.", "The dough must rest.", "Bake the dough for an hour.", "Flour and water make dough."]


class Topics:
    """Embeds by topic, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def __call__(self, texts: list[str]) -> np.ndarray:
        self.asked.append(texts)
        ports = [sum(word in text.lower() for word in ("harbour", "quay", "ship", "pilot")) for text in texts]
        bread = [sum(word in text.lower() for word in ("bread", "dough", "flour", "bake")) for text in texts]
        return np.array([ports, bread], dtype=np.float32).T + 0.01


async def cut(text: str, embed: Any, defaults: dict[str, Any] | None = None, **params: Any) -> list[str]:
    rows = await chunk_text_async(BPE, text, "semantic_vector", params, defaults, embed)
    assert [row["chunk_order_index"] for row in rows] == list(range(len(rows)))
    return [row["content"] for row in rows]


async def test_it_is_cut_where_the_subject_changes() -> None:
    embed = Topics()
    text = " ".join(PORTS + BREAD)
    assert await cut(text, embed, buffer_size=0) == [" ".join(PORTS), " ".join(BREAD)]
    assert embed.asked == [[*PORTS, *BREAD]]


async def test_neighbours_are_embedded_with_each_sentence() -> None:
    embed = Topics()
    await cut(" ".join(PORTS), embed)
    assert embed.asked == [
        [
            " ".join(PORTS[:2]),
            " ".join(PORTS[:3]),
            " ".join(PORTS[1:]),
            " ".join(PORTS[2:]),
        ]
    ]


async def test_one_sentence_asks_nobody() -> None:
    embed = Topics()
    assert await cut("Just one sentence.", embed) == ["Just one sentence."]
    assert await cut(" \n\n ", embed) == []
    assert embed.asked == []


async def test_what_is_too_long_is_cut_further() -> None:
    text = " ".join(PORTS * 5 + BREAD * 5)
    rows = await chunk_text_async(BPE, text, "semantic_vector", {"chunk_token_size": 30}, None, Topics())
    assert all(len(BPE.encode(row["content"])) <= 30 for row in rows)
    assert " ".join(row["content"] for row in rows) == text


async def test_sentences_longer_than_a_chunk_are_cut_before_they_are_embedded() -> None:
    embed = Topics()
    await cut("harbour " * 500 + ". Short one.", embed, chunk_token_size=60)
    assert all(len(BPE.encode(window)) <= 60 for window in embed.asked[0])


@pytest.mark.parametrize(
    ("kind", "amount", "expected"),
    [
        ("percentile", None, [3]),
        ("percentile", 50, [1, 3, 6]),
        ("percentile", 100, []),
        ("standard_deviation", 2, [3]),
        ("standard_deviation", None, []),
        ("interquartile", None, [3]),
        # The gradient is 0.1, 0, 0.35, 0, -0.4, 0.1, 0.2; four fifths of it are at most 0.18.
        ("gradient", 80, [2, 6]),
    ],
)
def test_thresholds(kind: str, amount: float | None, expected: list[int]) -> None:
    distances = [0.1, 0.2, 0.1, 0.9, 0.1, 0.1, 0.3]
    options = ChunkOptions(breakpoint_threshold_type=kind, breakpoint_threshold_amount=amount)
    assert breakpoints(distances, options) == expected


def test_no_breakpoints_where_nothing_differs() -> None:
    for kind in ("percentile", "standard_deviation", "interquartile", "gradient"):
        options = ChunkOptions(breakpoint_threshold_type=kind)
        assert breakpoints([0.5] * 10, options) == []
        assert breakpoints([], options) == []
        assert breakpoints([0.5], options) == []


@pytest.mark.parametrize(
    "vectors", [[[1.0, 2.0]], [1.0] * 8, [[float("nan")]] * 8, "text", [["a"]] * 8, [[1.0], [1.0, 2.0]] * 4]
)
async def test_vectors_that_cannot_be_used(vectors: Any) -> None:
    async def embed(texts: list[str]) -> Any:
        return vectors

    with pytest.raises(ModelReplyError, match="the embedding function returned"):
        await cut(" ".join(PORTS + BREAD), embed)


async def test_vectors_of_zeros_do_not_stop_it() -> None:
    async def embed(texts: list[str]) -> Any:
        return np.zeros((len(texts), 3))

    assert await cut(" ".join(PORTS), embed) == [" ".join(PORTS)]


async def test_failures_of_the_model_come_through() -> None:
    async def embed(texts: list[str]) -> Any:
        raise ModelError("no model")

    with pytest.raises(ModelError, match="no model"):
        await cut(" ".join(PORTS), embed)


async def test_it_needs_an_embedding_function() -> None:
    with pytest.raises(InputError, match="needs an embedding function"):
        await chunk_text_async(BPE, "text", "semantic_vector")
    with pytest.raises(InputError, match="needs more than the text"):
        chunk_text(BPE, "text", "semantic_vector")


async def test_the_other_strategies_are_there_too() -> None:
    rows = await chunk_text_async(BPE, "# A\n\ntext", "paragraph_semantic")
    assert rows[0]["heading"] == ["A"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("He said “Yes.” Then left.", ["He said “Yes.” ", "Then left."]),
        ("It cost 3.50 in v1.2 of e.g.this.", ["It cost 3.50 in v1.2 of e.g.this."]),
        ("今日は晴れ。明日は「雨。」終わり", ["今日は晴れ。", "明日は「雨。」", "終わり"]),
        ("Heading\n\nText", ["Heading\n\n", "Text"]),
        ("List:\n- one\n- two", ["List:\n", "- one\n", "- two"]),
        ("وصل؟ نعم.", ["وصل؟ ", "نعم."]),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


async def test_operators_may_say_what_ends_a_sentence() -> None:
    embed = Topics()
    await cut("harbour|bread|quay", embed, {"sentence_split_regex": r"\|"}, buffer_size=0)
    assert embed.asked == [["harbour|", "bread|", "quay"]]
    with pytest.raises(InputError, match="is no regular expression"):
        await cut("a b", embed, {"sentence_split_regex": "("})
    # A document may not: a pattern can be written so that it never comes to an end.
    with pytest.raises(InputError, match="unknown chunking parameter 'sentence_split_regex'"):
        await cut("a b", embed, sentence_split_regex="(a+)+$")


PARTS = st.lists(
    st.sampled_from([*PORTS, *BREAD, "。", "👨\u200d👩\u200d👧", "e\u0301", "\n\n", " ", "x" * 50]), max_size=30
).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(PARTS, st.integers(1, 60), st.integers(0, 3))
async def test_nothing_is_lost_and_no_cluster_is_cut(text: str, size: int, buffer_size: int) -> None:
    contents = await cut(text, Topics(), chunk_token_size=size, buffer_size=buffer_size)
    assert "".join("".join(content.split()) for content in contents) == "".join(text.split())
    place = 0
    for content in contents:
        place = text.index(content, place)
        assert may_cut(text, place)
        place += len(content)
