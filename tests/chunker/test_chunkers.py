"""Cutting text into chunks by both strategies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.chunker.boundaries import may_cut
from lightrag.chunker.fixed import chunking_by_token_size
from lightrag.chunker.registry import CHUNKERS, chunk_text
from lightrag.exceptions import InputError
from lightrag.runtime.tokens import TiktokenTokenizer

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
FLAGS = "🇩🇪🇫🇷🇯🇵"


class OneTokenPerCharacter:
    def encode(self, content: str) -> list[int]:
        return [ord(character) for character in content]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))


class OneTokenPerByte:
    """Every boundary inside a character gives U+FFFD when decoded."""

    def encode(self, content: str) -> list[int]:
        return list(content.encode("utf-8", "replace"))

    def decode(self, tokens: Sequence[int]) -> str:
        return bytes(tokens).decode("utf-8", "replace")


class LowerCasing:
    """Does not give the text back."""

    def encode(self, content: str) -> list[int]:
        return [len(word) for word in content.lower().split()]

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join("x" * length for length in tokens)


class Counted:
    """Another tokenizer, and how many characters it was given and gave back."""

    def __init__(self, inner: TiktokenTokenizer) -> None:
        self.inner = inner
        self.characters = 0

    def encode(self, content: str) -> list[int]:
        self.characters += len(content)
        return self.inner.encode(content)

    def decode(self, tokens: Sequence[int]) -> str:
        content = self.inner.decode(tokens)
        self.characters += len(content)
        return content


BPE = TiktokenTokenizer()
CHARACTERS = OneTokenPerCharacter()
BYTES = OneTokenPerByte()
TOKENIZERS = [BPE, CHARACTERS, BYTES, LowerCasing()]


def cut(tokenizer: Any, text: str, strategy: str, size: int, overlap: int) -> list[dict[str, Any]]:
    params = {"chunk_token_size": size, "chunk_overlap_token_size": overlap}
    return chunk_text(tokenizer, text, strategy, params)


def contents(rows: list[dict[str, Any]]) -> list[str]:
    return [row["content"] for row in rows]


def test_windows_overlap_and_are_numbered() -> None:
    rows = chunking_by_token_size(CHARACTERS, "0123456789abcdefghij", overlap_token_size=3, max_token_size=10)
    assert rows == [
        {"tokens": 10, "content": "0123456789", "chunk_order_index": 0},
        {"tokens": 10, "content": "789abcdefg", "chunk_order_index": 1},
        {"tokens": 6, "content": "efghij", "chunk_order_index": 2},
    ]


def test_no_window_that_only_repeats_the_end() -> None:
    text = "0123456789abcdefg"
    rows = chunking_by_token_size(CHARACTERS, text, overlap_token_size=3, max_token_size=10)
    assert contents(rows) == ["0123456789", "789abcdefg"]


def test_a_short_text_is_one_chunk() -> None:
    rows = chunking_by_token_size(BPE, "  Just one line.\n")
    assert contents(rows) == ["Just one line."]
    assert rows[0]["tokens"] == len(BPE.encode("  Just one line.\n"))


@pytest.mark.parametrize("strategy", CHUNKERS)
@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000", "\n" * 5000])
def test_white_space_has_no_chunks(strategy: str, text: str) -> None:
    assert chunk_text(BPE, text, strategy) == []


def test_split_by_character() -> None:
    text = "one two|three|  |four five six seven"
    rows = chunking_by_token_size(CHARACTERS, text, "|", overlap_token_size=1, max_token_size=10)
    assert contents(rows) == ["one two", "three", "four five", "six seven"]
    assert [row["chunk_order_index"] for row in rows] == [0, 1, 2, 3]
    rows = chunking_by_token_size(CHARACTERS, text, "|", True, overlap_token_size=1, max_token_size=10)
    assert contents(rows) == ["one two", "three", "four five six seven"]
    assert rows[2]["tokens"] == 19


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (0, 0), (-1, 0), (10, -1)])
def test_impossible_sizes_are_named(size: int, overlap: int) -> None:
    with pytest.raises(InputError, match=str(size)) as caught:
        chunking_by_token_size(BPE, "text", overlap_token_size=overlap, max_token_size=size)
    if size > 0:
        assert str(overlap) in str(caught.value)
    with pytest.raises(InputError):
        cut(BPE, "text", "recursive_character", size, overlap)


def test_unknown_names_are_refused_with_the_allowed_ones() -> None:
    with pytest.raises(InputError, match=r"'by_feeling'.*fixed_token.*recursive_character"):
        chunk_text(BPE, "text", "by_feeling")
    with pytest.raises(InputError, match=r"'chunk_size'.*chunk_token_size"):
        chunk_text(BPE, "text", "fixed_token", {"chunk_size": 3})


@pytest.mark.parametrize("strategy", CHUNKERS)
@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda tokenizer: type(tokenizer).__name__)
@pytest.mark.parametrize("unit", [FAMILY, FLAGS, "e\u0301o\u0308", "नमस्ते", "각", "日本語。", "👍🏽", "a\r\n"])
def test_no_cluster_is_cut(strategy: str, tokenizer: Any, unit: str) -> None:
    text = "x" + unit * 60
    for size in (3, 7, 30):
        for overlap in (0, 2):
            for row in cut(tokenizer, text, strategy, size, overlap):
                assert "\ufffd" not in row["content"]
                assert stands_between_clusters(text, row["content"])


def stands_between_clusters(text: str, piece: str) -> bool:
    """Tell whether a piece can be found in the text so that neither border lies inside a cluster."""
    places = (place for place in range(len(text)) if text.startswith(piece, place))
    return any(may_cut(text, place) and may_cut(text, place + len(piece)) for place in places)


def covered(text: str, pieces: list[str]) -> bool:
    """Tell whether the pieces, in order, cover every character of the text that is not white space.

    Each piece is taken at the last place that leaves no gap, for a repeated text fits in several.
    """
    reached = 0
    for piece in pieces:
        gap = len(text[reached:]) - len(text[reached:].lstrip())
        start = text.rfind(piece, 0, reached + gap + len(piece))
        if start < 0:
            return False
        reached = max(reached, start + len(piece))
    return not text[reached:].strip()


TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            ["word ", "Longer words, and more. ", "\n\n", "\n", "。", "日本語", FAMILY, FLAGS, "e\u0301", "\r\n"]
        ),
        st.text(max_size=6),
    ),
    max_size=40,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(
    TEXTS, st.sampled_from(sorted(CHUNKERS)), st.sampled_from([BPE, CHARACTERS, BYTES]), st.integers(8, 40), st.data()
)
def test_nothing_is_lost_and_chunks_keep_to_the_size(
    text: str, strategy: str, tokenizer: Any, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    rows = cut(tokenizer, text, strategy, size, overlap)
    assert covered(text, contents(rows))
    assert [row["chunk_order_index"] for row in rows] == list(range(len(rows)))
    longest_cluster = 40
    for row in rows:
        assert stands_between_clusters(text, row["content"])
        assert row["content"] == row["content"].strip() != ""
        assert row["tokens"] <= max(size, longest_cluster)


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1, max_size=300), st.sampled_from(sorted(CHUNKERS)), st.integers(1, 5))
def test_any_text_any_tokenizer(text: str, strategy: str, size: int) -> None:
    for tokenizer in TOKENIZERS:
        rows = cut(tokenizer, text, strategy, size, size - 1)
        assert covered(text, contents(rows)) or not rows


def test_lone_surrogates_do_not_stop_it() -> None:
    text = "before \ud800 after " * 50
    assert covered(text, contents(cut(BPE, text, "fixed_token", 20, 5)))


def test_paragraphs_then_sentences_then_words() -> None:
    text = "First one. Second one.\n\nThird paragraph is here.\n\nFourth."
    rows = cut(CHARACTERS, text, "recursive_character", 30, 0)
    assert contents(rows) == ["First one. Second one.", "Third paragraph is here.", "Fourth."]
    rows = cut(CHARACTERS, text, "recursive_character", 15, 0)
    assert contents(rows) == ["First one.", "Second one.", "Third paragraph", "is here.", "Fourth."]


def test_cjk_punctuation() -> None:
    rows = cut(CHARACTERS, "今日は晴れ。明日は雨です！風も、強い。", "recursive_character", 8, 0)
    assert contents(rows) == ["今日は晴れ。", "明日は雨です！", "風も、強い。"]


def test_own_separators_and_overlap_of_whole_pieces() -> None:
    params = {"chunk_token_size": 6, "chunk_overlap_token_size": 3, "separators": ["|"]}
    rows = chunk_text(CHARACTERS, "aa|bb|cc|dd|", "recursive_character", params)
    assert contents(rows) == ["aa|bb|", "bb|cc|", "cc|dd|"]


@pytest.mark.parametrize("strategy", CHUNKERS)
@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "lorem ipsum " * 83_333,
        "🇩🇪" * 200_000,
        "e" + "\u0301" * 200_000,
        "漢" * 300_000,
        FAMILY * 20_000,
    ],
    ids=["letter", "words", "flags", "marks", "han", "families"],
)
def test_a_very_long_line_is_cut_with_work_in_proportion_to_it(strategy: str, text: str) -> None:
    whole, quarter = Counted(BPE), Counted(BPE)
    assert len(cut(whole, text, strategy, 1200, 100)) > 10
    cut(quarter, text[: len(text) // 4], strategy, 1200, 100)
    assert whole.characters <= 5 * quarter.characters
