"""Places where a text may be cut, found through any tokenizer.

A tokenizer offers ``encode`` and ``decode`` only, and its tokens may begin or end in the middle of a
character. So a position in tokens is turned into a position in characters by decoding what lies between it
and one known before, and comparing that with the text: it counts only if they agree. What is cut out is
always a piece of the text itself, never decoded tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from lightrag.contracts.models import Tokenizer
from lightrag.runtime.clusters import is_cluster_boundary

# A character has at most four bytes, so at most three token boundaries in a row lie inside one; a cluster has
# several.
_MAX_STEPS_BACK = 64
_MAX_CLUSTER_CHARACTERS = 256


def may_cut(text: str, index: int, since: int = 0) -> bool:
    """Tell whether a text may be cut before ``text[index]``.

    Args:
        text: Any text.
        index: Where to cut.
        since: An earlier place where it may be cut. The rules look back over runs that can be as long as the
            text, so a near one saves time.
    """
    return is_cluster_boundary(text[since : index + 1], index - since)


def cut_before(text: str, index: int, since: int) -> int:
    """Return the last place in ``(since, index]`` where a text may be cut; ``index`` if there is none near."""
    for place in range(index, max(since, index - _MAX_CLUSTER_CHARACTERS), -1):
        if may_cut(text, place, since):
            return place
    return index


@dataclass(frozen=True, slots=True)
class Place:
    """One position, counted both ways.

    Attributes:
        token: Index of the token that begins here.
        offset: Index of its first character.
    """

    token: int
    offset: int


class TokenMap:
    """A text and its tokens, with places where both can be cut."""

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        """Encode a text.

        Args:
            tokenizer: Encodes and decodes.
            text: Any text.
        """
        self.text = text
        self.tokens = tokenizer.encode(text)
        self._tokenizer = tokenizer

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def end(self) -> Place:
        """The place behind the last token."""
        return Place(len(self.tokens), len(self.text))

    def at(self, token: int, since: Place) -> Place | None:
        """Return the place before a token, or ``None`` if the text cannot be cut there.

        Args:
            token: Index of a token, not before ``since``.
            since: A place known already.
        """
        if token >= len(self.tokens):
            return self.end
        piece = self._tokenizer.decode(self.tokens[since.token : token])
        if not self.text.startswith(piece, since.offset):
            return None
        offset = since.offset + len(piece)
        return Place(token, offset) if may_cut(self.text, offset, since.offset) else None

    def last_before(self, token: int, since: Place) -> Place | None:
        """Return the last place up to a token and behind ``since``, or ``None`` if none is near."""
        for candidate in range(min(token, len(self.tokens)), max(since.token, token - _MAX_STEPS_BACK), -1):
            place = self.at(candidate, since)
            if place is not None:
                return place
        return None

    def first_after(self, token: int, since: Place) -> Place | None:
        """Return the first place behind a token, or ``None`` if none is near."""
        for candidate in range(token + 1, min(token + _MAX_STEPS_BACK, len(self.tokens)) + 1):
            place = self.at(candidate, since)
            if place is not None:
                return place
        return None
