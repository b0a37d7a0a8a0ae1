"""The text of an answer, piece by piece, without its list of references."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.cli.answer_text import AnswerText

LIST = "\n\n### References\n\n- [1] a.md\n- [3] b/c.md"
ANSWER = "## Dues\n\nThree pence [1].\n\n# Reasons\nThe bridge [3]\n\n- one\n- two"


def printed(text: str, cuts: list[int] | None = None) -> str:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts or ())})
    answer = AnswerText()
    pieces = [answer.add(text[begin:end]) for begin, end in pairwise(places)]
    whole = "".join(pieces) + answer.end()
    assert answer.whole == whole
    return whole


@given(st.lists(st.integers(0, 500), max_size=12), st.sampled_from(["", LIST, LIST + "\n", LIST.replace("###", "#")]))
def test_the_list_is_left_out_wherever_the_answer_is_cut(cuts: list[int], ending: str) -> None:
    assert printed(ANSWER + ending, cuts) == ANSWER


@given(st.text("# Ref\n-[1]", max_size=30), st.lists(st.integers(0, 40), max_size=5))
def test_how_an_answer_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    assert printed(text, cuts) == printed(text)
    assert text.startswith(printed(text))


@pytest.mark.parametrize(
    "text",
    [
        "### References are what follows",
        "### Reference",
        "####### References\n- [1] a.md",
        "see ### References\n- [1] a.md",
        "### References\n- [1] a.md\n\nAnd one thing more.",
        "### References\nnone",
        "### references\n- [1] a.md",
    ],
)
def test_everything_else_is_printed(text: str) -> None:
    assert printed(text) == text


def test_pieces_are_printed_at_once_unless_they_may_begin_the_list() -> None:
    answer = AnswerText()
    assert answer.add("Three ") == "Three"
    assert answer.add("pence.\n") == " pence."
    assert answer.add("\n##") == ""
    assert answer.add("# Reasons") == "\n\n### Reasons"
    assert answer.add("\n### Ref") == ""
    assert answer.add("erences\n- [1] a.md") == ""
    assert answer.end() == ""
