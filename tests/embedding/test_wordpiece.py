"""Word pieces, compared with the library that the model was trained with."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightrag.embedding
from lightrag.embedding.wordpiece import WordPieceTokenizer, split_words

VOCABULARY = Path(lightrag.embedding.__file__).parent / "data" / "bert-base-uncased-vocab.txt"


@cache
def ours() -> WordPieceTokenizer:
    return WordPieceTokenizer(VOCABULARY.read_text(encoding="utf-8").splitlines())


@cache
def reference() -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed; extra dev")
    return tokenizers.BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)


def check_same(text: str) -> None:
    assert ours().encode(text) == reference().encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The Tidewater Clock stopped at eleven minutes past two.",
        "Don't e-mail snake_case@example.com, please!",
        "Café, naïve, Ærø, ΟΔΥΣΣΕΥΣ, İstanbul, straße",
        "東京タワーは高い。中国のラーメン",
        "한국어 हिन्दी العربية עברית ไทย",
        "👩‍🚀 flies 🚀 … “quoted” — dash",
        "a\x00b\x07c\tnew\r\nline\u00a0nbsp\u200bzero\ufffd",
        "pneumonoultramicroscopicsilicovolcanoconiosis " + "x" * 101,
    ],
)
def test_known_texts(text: str) -> None:
    check_same(text)


# The two know different versions of Unicode, so only characters that all versions class alike; ``[`` could begin a
# special token.
_SINCE_EVER = unicodedata.ucd_3_2_0
LETTERS = st.characters(max_codepoint=0x06FF, exclude_categories=["Cs", "Cn", "Cf"], exclude_characters="[").filter(
    lambda character: _SINCE_EVER.category(character) == unicodedata.category(character)
)


@settings(max_examples=200, deadline=None)
@given(st.text(LETTERS, max_size=40))
def test_any_text(text: str) -> None:
    check_same(text)


def test_words_without_the_reference() -> None:
    assert split_words("Café au-lait, 5%") == ["cafe", "au", "-", "lait", ",", "5", "%"]
    words = [VOCABULARY.read_text(encoding="utf-8").splitlines()[number] for number in ours().encode("Tidewater")]
    assert "".join(words).replace("##", "") == "tidewater"


def test_lone_surrogates_are_dropped() -> None:
    assert ours().encode("a \ud800 b") == ours().encode("a b")
