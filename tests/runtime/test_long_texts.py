"""Texts too long for an embedding model: windows, overlap, and the mean of their vectors."""

from __future__ import annotations

import numpy as np
import pytest

from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.long_texts import CutTexts, Windows
from lightrag.runtime.model_set import Embedder
from lightrag.runtime.retries import NO_RETRIES
from lightrag.runtime.tokens import TiktokenTokenizer
from tests.fakes.models import HashEmbedder, WordTokenizer

WORDS = " ".join(f"word{number:02d}" for number in range(20))


def test_texts_that_fit_are_left_alone_and_not_even_counted() -> None:
    tokenizer = WordTokenizer()
    windows = Windows(tokenizer, 50, 5)
    assert windows.cut(["a short text", "x" * 50]) is None
    assert tokenizer.encoded == 0
    assert windows.cut(["many letters and few tokens: " + "x" * 100]) is None


def test_windows_overlap_and_cover_everything() -> None:
    cut = Windows(WordTokenizer(), 8, 2).cut(["short", WORDS, "another"])
    assert cut is not None
    assert cut.owners == [0, 1, 1, 1, 2]
    first, second, third = (piece.split() for piece in cut.pieces[1:4])
    assert first == WORDS.split()[:8]
    assert second == WORDS.split()[6:14]
    assert third == WORDS.split()[12:]


@pytest.mark.parametrize("overlap", [0, 4, 100])
def test_any_overlap_ends(overlap: int) -> None:
    cut = Windows(WordTokenizer(), 8, overlap).cut([WORDS])
    assert cut is not None
    assert {word for piece in cut.pieces for word in piece.split()} == set(WORDS.split())


def test_a_border_inside_a_character_leaves_no_broken_one() -> None:
    cut = Windows(TiktokenTokenizer(), 5, 0).cut(["🏳️‍🌈👩‍👩‍👧‍👦𐍈𐍈𐍈𐍈" * 4])
    assert cut is not None
    assert len(cut.pieces) > 2
    assert not any("\ufffd" in piece for piece in cut.pieces)


def test_a_mean_keeps_the_scale_of_its_windows() -> None:
    vectors = np.array([[1.0, 0.0], [4.0, 0.0], [0.0, 2.0], [0.6, 0.8]], dtype=np.float32)
    joined = CutTexts(["a", "b", "b", "c"], [0, 1, 1, 2]).joined(vectors)
    np.testing.assert_array_equal(joined[0], vectors[0])
    np.testing.assert_array_equal(joined[2], vectors[3])
    assert np.linalg.norm(joined[1]) == pytest.approx(3.0)
    np.testing.assert_allclose(joined[1] / np.linalg.norm(joined[1]), np.array([2, 1]) / np.sqrt(5), rtol=1e-6)


def test_opposite_windows_give_no_nonsense() -> None:
    joined = CutTexts(["a", "a"], [0, 0]).joined(np.array([[1.0, 0.0], [-1.0, 0.0]], dtype=np.float32))
    assert np.isfinite(joined).all()


async def test_the_embedder_sends_no_text_that_is_too_long() -> None:
    model = HashEmbedder()
    function = model.function()
    embedder = Embedder(
        function, BoundedCalls(function, 4, retry=NO_RETRIES), 2, windows=Windows(WordTokenizer(), 8, 2)
    )
    vectors = await embedder.embed(["short", WORDS])
    assert vectors.shape == (2, model.dimension)
    sent = [text for call in model.calls for text in call]
    assert len(sent) == 4
    assert max(len(text.split()) for text in sent) == 8
    alone = await embedder.embed(["short"])
    np.testing.assert_array_equal(vectors[0], alone[0])
