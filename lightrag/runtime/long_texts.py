"""Texts that are longer than an embedding model takes: cut into windows, whose vectors are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightrag.contracts.models import Tokenizer
from lightrag.runtime.text import sanitize_text

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class CutTexts:
    """Texts in pieces that the model takes.

    Attributes:
        pieces: What is embedded.
        owners: Number of the text that each piece belongs to, ascending.
    """

    pieces: list[str]
    owners: list[int]

    def joined(self, vectors: np.ndarray) -> np.ndarray:
        """Return one vector per text.

        A text of one piece keeps its vector bit by bit; the mean of several has the length of their average, so that
        models that do not normalise keep their scale.

        Args:
            vectors: Of the pieces, shape ``(len(pieces), dim)``.
        """
        import numpy as np

        owners = np.asarray(self.owners)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        counts = np.diff(np.append(starts, len(owners)))
        lengths = np.add.reduceat(np.linalg.norm(vectors, axis=1), starts) / counts
        means = np.add.reduceat(vectors.astype(np.float64), starts, axis=0) / counts[:, None]
        norms = np.linalg.norm(means, axis=1)
        scale = np.divide(lengths, norms, out=np.ones_like(norms), where=norms > 0)
        joined: np.ndarray = (means * scale[:, None]).astype(np.float32)
        single = counts == 1
        joined[single] = vectors[starts[single]]
        return joined


class Windows:
    """Cuts texts at a number of tokens."""

    def __init__(self, tokenizer: Tokenizer, limit: int, overlap: int) -> None:
        """Set the size of windows.

        Args:
            tokenizer: Counts tokens; the model's own may count a little differently.
            limit: Tokens of a window at the most.
            overlap: Tokens that neighbouring windows share; at most half a window.
        """
        self._tokenizer = tokenizer
        self._limit = limit
        self._step = limit - min(overlap, limit // 2)

    def cut(self, texts: Sequence[str]) -> CutTexts | None:
        """Return texts in windows, or ``None`` when every text fits."""
        # A token is at least one byte, and a character at most four, so most texts need no counting.
        if all(len(text) * 4 <= self._limit or len(text.encode()) <= self._limit for text in texts):
            return None
        pieces: list[str] = []
        owners: list[int] = []
        for number, text in enumerate(texts):
            windows = self._windows(text)
            pieces += windows
            owners += [number] * len(windows)
        return None if len(pieces) == len(texts) else CutTexts(pieces, owners)

    def _windows(self, text: str) -> list[str]:
        if len(text.encode()) <= self._limit:
            return [text]
        tokens = self._tokenizer.encode(text)
        if len(tokens) <= self._limit:
            return [text]
        count = -(-(len(tokens) - self._limit) // self._step) + 1
        cut = (tokens[number * self._step : number * self._step + self._limit] for number in range(count))
        # A border can fall inside a character; what is left of it is no text.
        windows = [sanitize_text(self._tokenizer.decode(window).strip("\ufffd")) for window in cut]
        return [window for window in windows if window] or [text]
