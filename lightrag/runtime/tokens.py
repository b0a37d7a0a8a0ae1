"""Counting and cutting by tokens, without network: the vocabularies come inside the package ``bpe_openai``.

Token ids are those of ``tiktoken``. The vocabularies are immutable and large, so a process holds one of each.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Protocol

from lightrag.contracts.models import Tokenizer as TokenizerContract
from lightrag.exceptions import InputError
from lightrag.runtime.clusters import truncate_clusters

_BINDINGS = "bpe_openai._bindings"
_load_lock = Lock()

# Ids below these are ordinary tokens; text never encodes to the special ones above.
_ORDINARY_TOKENS = {"o200k_base": 199_998, "cl100k_base": 100_256}

# The first prefix that fits decides, so "gpt-4o" stands before "gpt-4".
_ENCODING_BY_PREFIX = (
    ("o200k_base", "o200k_base"),
    ("cl100k_base", "cl100k_base"),
    ("gpt-4o", "o200k_base"),
    ("gpt-4.", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-oss", "o200k_base"),
    ("chatgpt-4o", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35", "cl100k_base"),
    ("text-embedding-", "cl100k_base"),
)


class _BytePairEncoding(Protocol):
    def encode(self, text: str) -> list[int]: ...
    def decode(self, tokens: list[int]) -> str: ...
    def count(self, text: str) -> int: ...


def _load_bindings() -> ModuleType:
    """Load the compiled part of ``bpe_openai`` alone.

    Importing the whole package decodes every vocabulary into Python dictionaries, which takes ten times as
    long and twice the memory of the compiled tokenizer, and none of them is needed to encode.
    """
    with _load_lock:
        loaded = sys.modules.get(_BINDINGS)
        if loaded is not None:
            return loaded
        package = find_spec("bpe_openai")
        spec = PathFinder.find_spec(_BINDINGS, package.submodule_search_locations) if package else None
        if spec is None or spec.loader is None:
            return import_module(_BINDINGS)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[_BINDINGS] = module
        return module


@cache
def _byte_pair_encoding(name: str) -> _BytePairEncoding:
    encoding: _BytePairEncoding = _load_bindings().tokenizer_for_encoding(name)
    return encoding


@cache
def _token_bytes(name: str) -> list[bytes]:
    """Return the bytes of every ordinary token; only decoding a cut-off character needs them."""
    import gzip

    table = [b""] * _ORDINARY_TOKENS[name]
    folder = Path(str(_load_bindings().__file__)).parent / "data"
    with gzip.open(folder / f"{name}.tiktoken.gz", "rb") as lines:
        for line in lines:
            if line.strip():
                token, rank = line.split()
                table[int(rank)] = b64decode(token)
    return table


class _Vocabulary:
    """One byte pair encoding; loaded when first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def encode(self, content: str) -> list[int]:
        try:
            return _byte_pair_encoding(self._name).encode(content)
        except UnicodeEncodeError:
            return _byte_pair_encoding(self._name).encode(_replace_surrogates(content))

    def count(self, content: str) -> int:
        try:
            return _byte_pair_encoding(self._name).count(content)
        except UnicodeEncodeError:
            return _byte_pair_encoding(self._name).count(_replace_surrogates(content))

    def decode(self, tokens: Sequence[int]) -> str:
        if not tokens:
            return ""
        if min(tokens) < 0 or max(tokens) >= _ORDINARY_TOKENS[self._name]:
            # The compiled decoder does not raise on an unknown id, it panics.
            last = _ORDINARY_TOKENS[self._name] - 1
            raise InputError(f"token ids of {self._name!r} are 0 to {last}; got {min(tokens)!r} to {max(tokens)!r}")
        try:
            return _byte_pair_encoding(self._name).decode(list(tokens))
        except ValueError:
            table = _token_bytes(self._name)
            return b"".join(table[token] for token in tokens).decode("utf-8", "replace")


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Tokenizer:
    """A tokenizer under the name of the model that it belongs to.

    Attributes:
        model_name: Name of the model; for people and cache keys.
        tokenizer: What does the work: anything with ``encode(text) -> list[int]`` and ``decode(ids) -> str``.
    """

    def __init__(self, model_name: str, tokenizer: Any) -> None:
        """Wrap a tokenizer.

        Args:
            model_name: Name of the model.
            tokenizer: Anything with ``encode(text)`` and ``decode(ids)``; ``count(text)`` is used if it has
                it.
        """
        self.model_name = model_name
        self.tokenizer = tokenizer

    def encode(self, content: str) -> list[int]:
        """Return the token ids of a text."""
        return list(self.tokenizer.encode(content))

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of token ids; bytes that are not UTF-8 become U+FFFD."""
        return str(self.tokenizer.decode(tokens))

    def count(self, content: str) -> int:
        """Return the number of tokens of a text, without a list of ids where that can be avoided."""
        count = getattr(self.tokenizer, "count", None)
        return len(self.tokenizer.encode(content)) if count is None else int(count(content))


def encoding_name_for_model(model_name: str) -> str:
    """Return the encoding, ``"o200k_base"`` or ``"cl100k_base"``, of an OpenAI model.

    Raises:
        InputError: The model's encoding is not known.
    """
    name = model_name.lower().removeprefix("ft:").removeprefix("openai/")
    for prefix, encoding in _ENCODING_BY_PREFIX:
        if name.startswith(prefix):
            return encoding
    known = ", ".join(sorted({repr(prefix) for prefix, _ in _ENCODING_BY_PREFIX}))
    raise InputError(
        f"no tokenizer is known for the model {model_name!r}; names may start with {known}. "
        f"Choose one that counts alike, or pass your own tokenizer."
    )


class TiktokenTokenizer(Tokenizer):
    """The tokenizer of an OpenAI model, with the ids of ``tiktoken``.

    Text that looks like a special token (``<|endoftext|>``) is encoded as the ordinary text that it is.
    """

    def __init__(self, model_name: str = "gpt-4o-mini") -> None:
        """Choose the encoding by the model's name; the vocabulary is loaded when first used.

        Args:
            model_name: An OpenAI model such as ``"gpt-4o"``, or ``"o200k_base"`` or ``"cl100k_base"``.

        Raises:
            InputError: The model's encoding is not known.
        """
        self.encoding_name = encoding_name_for_model(model_name)
        super().__init__(model_name, _Vocabulary(self.encoding_name))


@cache
def default_tokenizer() -> TiktokenTokenizer:
    """Return the tokenizer used where none is given: that of ``gpt-4o-mini``."""
    return TiktokenTokenizer()


def count_tokens(tokenizer: TokenizerContract | None, content: str) -> int:
    """Return the number of tokens of a text.

    Args:
        tokenizer: Whose tokens; ``None`` for those of ``gpt-4o-mini``.
        content: Any text.
    """
    chosen = default_tokenizer() if tokenizer is None else tokenizer
    count = getattr(chosen, "count", None)
    return len(chosen.encode(content)) if count is None else int(count(content))


def truncate_to_tokens(tokenizer: TokenizerContract | None, content: str, limit: int) -> str:
    """Return the longest start of a text, cut between grapheme clusters, that has at most ``limit`` tokens.

    Args:
        tokenizer: Whose tokens; ``None`` for those of ``gpt-4o-mini``.
        content: Any text.
        limit: Most tokens of the result.
    """
    if limit <= 0:
        return ""
    chosen = default_tokenizer() if tokenizer is None else tokenizer
    tokens = chosen.encode(content)
    if len(tokens) <= limit:
        return content
    keep = limit
    while keep > 0:
        # A cut inside a character decodes to a replacement mark, which is not part of the text.
        start = chosen.decode(tokens[:keep]).rstrip("\ufffd")
        head = truncate_clusters(content, len(start))
        # The end of a cut text can need one token more than it had inside the whole.
        if count_tokens(chosen, head) <= limit:
            return head
        keep -= 1
    return ""
