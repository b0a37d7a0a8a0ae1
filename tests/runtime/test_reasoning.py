"""What a reader sees of replies of models that think aloud."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.runtime.reasoning import ReasoningFilter


def whole(reply: str, reasoning: str = "", *, keep: bool = False) -> str:
    reader = ReasoningFilter(keep=keep)
    return reader.feed(reply, reasoning) + reader.finish()


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("plain", "plain"),
        ("<think>a</think>\n\nb", "b"),
        ("  \n<think>a</think>b", "b"),
        ("<think></think>b", "b"),
        ("<think>never ends", ""),
        ("a <think>b</think>", "a <think>b</think>"),
        ("<think>a</think>b</think>", "b</think>"),
        ("</think>b", "</think>b"),
        ("<thin", "<thin"),
        ("<thing>x", "<thing>x"),
        ("  lead", "  lead"),
        ("", ""),
    ],
)
def test_dropped(reply: str, shown: str) -> None:
    assert whole(reply) == shown


def test_kept() -> None:
    assert whole("answer", "why", keep=True) == "<think>why</think>answer"
    assert whole("", "why", keep=True) == "<think>why</think>"
    assert whole("<think>why</think>answer", keep=True) == "<think>why</think>answer"
    assert whole("answer", "why") == "answer"


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "</", "a", " ", "\n"]), max_size=8).map("".join),
    st.lists(st.integers(0, 40), max_size=6),
    st.booleans(),
)
def test_where_the_pieces_are_cut_makes_no_difference(reply: str, cuts: list[int], keep: bool) -> None:
    reader = ReasoningFilter(keep=keep)
    edges = sorted({0, len(reply), *(cut for cut in cuts if cut <= len(reply))})
    shown = [reader.feed(reply[start:end]) for start, end in pairwise(edges)]
    assert "".join([*shown, reader.finish()]) == whole(reply, keep=keep)
