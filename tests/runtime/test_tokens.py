"""Tokens: the ids of tiktoken, without network, in time that grows with the text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.exceptions import InputError
from lightrag.runtime.tokens import (
    TiktokenTokenizer,
    Tokenizer,
    count_tokens,
    default_tokenizer,
    encoding_name_for_model,
    truncate_to_tokens,
)
from tests.ending import ends


class Words:
    """A tokenizer of someone's own: a word is a token."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def encode(self, content: str) -> list[int]:
        ids = []
        for word in content.split(" "):
            if word not in self.words:
                self.words.append(word)
            ids.append(self.words.index(word))
        return ids

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join(self.words[token] for token in tokens)


def test_the_ids_are_those_of_tiktoken() -> None:
    # Published examples: "tiktoken is great!" in the OpenAI cookbook (cl100k_base), "hello world" for both.
    assert TiktokenTokenizer("gpt-4").encode("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]
    assert TiktokenTokenizer("gpt-4").encode("hello world") == [15339, 1917]
    assert TiktokenTokenizer("gpt-4o").encode("hello world") == [24912, 2375]


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("GPT-4o", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("ft:gpt-4o:acme", "o200k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("cl100k_base", "cl100k_base"),
        ("o200k_base", "o200k_base"),
    ],
)
def test_models_have_encodings(model: str, encoding: str) -> None:
    assert encoding_name_for_model(model) == encoding


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(InputError, match=r"no tokenizer is known for the model 'mistral-nemo'"):
        TiktokenTokenizer("mistral-nemo")


@given(st.text())
def test_decoding_undoes_encoding(text: str) -> None:
    tokenizer = default_tokenizer()
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == text
    assert tokenizer.count(text) == len(tokens)


def test_half_a_character_becomes_a_replacement_mark() -> None:
    tokenizer = default_tokenizer()
    tokens = tokenizer.encode("🧿")
    assert len(tokens) > 1
    assert "\ufffd" in tokenizer.decode(tokens[:1])
    assert tokenizer.decode([]) == ""


def test_lone_surrogates_and_special_tokens_are_ordinary_text() -> None:
    tokenizer = default_tokenizer()
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"
    assert tokenizer.count("a\ud800b") == len(tokenizer.encode("a\ud800b"))
    assert tokenizer.decode(tokenizer.encode("<|endoftext|>")) == "<|endoftext|>"


@pytest.mark.parametrize("token", [-1, 199_998, 10**9])
def test_an_unknown_id_is_an_error_and_no_crash(token: int) -> None:
    with pytest.raises(InputError, match="0 to 199997"):
        default_tokenizer().decode([1, token])


def test_every_ordinary_id_decodes() -> None:
    for name, size in (("o200k_base", 199_998), ("cl100k_base", 100_256)):
        assert TiktokenTokenizer(name).decode(range(size))


@pytest.mark.parametrize("unit", ["a", "日本語", " ", "\n", "aB1!", "👩‍👩‍👧"])
def test_a_line_of_a_million_characters_does_not_cost_its_square(unit: str) -> None:
    tokenizer = default_tokenizer()
    line = unit * (1_000_000 // len(unit))
    with ends():
        assert tokenizer.count(line) == len(tokenizer.encode(line))


def test_a_tokenizer_of_ones_own() -> None:
    tokenizer = Tokenizer("words", Words())
    assert tokenizer.model_name == "words"
    assert tokenizer.decode(tokenizer.encode("to be or not to be")) == "to be or not to be"
    assert tokenizer.count("to be or not to be") == 6
    assert count_tokens(tokenizer, "to be") == 2
    assert count_tokens(Words(), "to be") == 2
    assert truncate_to_tokens(tokenizer, "to be or not to be", 4) == "to be or not"


def test_counting_without_a_tokenizer_uses_the_default() -> None:
    assert count_tokens(None, "hello world") == 2
    assert default_tokenizer() is default_tokenizer()


@given(st.text() | st.text("👩‍👧é日\ud800a ", max_size=40), st.integers(-1, 12))
def test_cutting_to_tokens(text: str, limit: int) -> None:
    cut = truncate_to_tokens(None, text, limit)
    assert text.startswith(cut)
    assert count_tokens(None, cut) <= max(limit, 0)
    if count_tokens(None, text) <= limit:
        assert cut == text


def test_nothing_is_loaded_before_it_is_needed_and_no_network_is_used() -> None:
    script = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("no network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from lightrag.runtime.tokens import TiktokenTokenizer
tokenizer = TiktokenTokenizer()
assert not any(name.startswith("bpe_openai") for name in sys.modules)
assert tokenizer.encode("hello world") == [24912, 2375]
assert "bpe_openai" not in sys.modules, "the whole package must not be imported"
import bpe_openai
assert bpe_openai.get_encoding("o200k_base").encode("hello world") == [24912, 2375]
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
