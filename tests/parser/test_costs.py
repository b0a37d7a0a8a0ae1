"""Texts that are made to cost their square, or to grow, and that are read in the main process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from lightrag.chunker.blocks import markdown_blocks
from lightrag.exceptions import InputError
from lightrag.llm.offline.answer import answer_reply
from lightrag.llm.offline.context import AnswerContext, Passage, read_context
from lightrag.llm.offline.sentences import split_sentences
from lightrag.parser.pool import ParserPool
from lightrag.parser.registry import parse_file
from lightrag.parser.sniff import sniff
from tests.ending import ends

WORK: dict[str, Callable[[], object]] = {
    "many comments before a text": lambda: parse_file("a.md", b"<!-- a -->" * 5_000 + b"text"),
    "many comments, none closed": lambda: parse_file("a.md", b"<!--" * 400_000),
    "escaped marks after an open one": lambda: parse_file("a.jsonl", b'"\\u0041' + b'\\"' * 1_000_000),
    "starts of a head that never ends": lambda: parse_file("a.html", b"<html><body>x" + b"<head>" * 200_000),
    "starts of a title that never ends": lambda: parse_file("a.html", b"<html><body>x" + b"<title>" * 200_000),
    "a heading with a long gap, for chunks": lambda: markdown_blocks("# a" + " " * 1_000_000 + "b"),
    "a heading with a long gap, for sentences": lambda: split_sentences("# a" + " " * 1_000_000 + "b"),
    "a line of dots": lambda: split_sentences("Contents " + "." * 1_000_000 + "7"),
    "a question with a long gap": lambda: answer_reply(
        "Who is x" + " " * 1_000_000 + "y", AnswerContext([Passage("1", "Ada went.")])
    ),
    "a prompt of empty lines": lambda: read_context("\n" * 1_000_000),
}


@pytest.mark.parametrize("name", WORK)
def test_no_text_costs_its_square(name: str) -> None:
    # A page whose head never ends may be read as empty.
    with ends(), suppress(InputError):
        WORK[name]()


def test_comments_before_a_web_page_are_skipped() -> None:
    page = b"\xef\xbb\xbf \n" + b"<!-- note -->\n" * 30 + b"<!DOCTYPE html><html><body><p>Seen</p></body></html>"
    assert sniff(page, "a.txt") == "html"


def test_letters_of_strings_that_are_closed_are_written_out_beside_one_that_is_not() -> None:
    text = parse_file("a.jsonl", b'{"a": "\\u4e2d"}\n{"b": "\\u6587\n{"c": "\\u5b57"}\n')
    assert text == '{"a": "中"}\n{"b": "\\u6587\n{"c": "字"}\n'


@pytest.mark.parametrize(
    ("line", "title"), [("# One ##", "One"), ("# One#", "One"), ("## #", ""), ("# a # b #", "a # b")]
)
def test_marks_behind_a_heading_are_no_part_of_it(line: str, title: str) -> None:
    (block,) = markdown_blocks(line)
    assert block.headings == ((title,) if title else ())


def test_json_does_not_grow_by_its_depth() -> None:
    data = b"[" * 500 + b'"' + b"y" * 2000 + b'"' + b",1" * 10_000 + b"]" * 500
    assert len(parse_file("a.json", data)) < 20 * len(data)


def test_a_table_does_not_grow_by_its_widest_row() -> None:
    wide = b",".join([b"x"] * 2000)
    data = b"\n".join([*[b"a,b"] * 5000, wide, *[b"c,d"] * 5000])
    text = parse_file("a.csv", data)
    lines = text.split("\n")
    assert len(text) < 10 * len(data)
    assert lines[0].count("|") == lines[1].count("|") == 2001
    assert lines[2] == "| a | b |"


async def test_a_letter_nested_too_deeply_says_so_and_the_process_goes_on() -> None:
    pool = ParserPool()
    letter = b"From: a\nSubject: s\n\nbody"
    for _ in range(1500):
        letter = b"From: a\nSubject: s\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n" + letter
    try:
        await pool.parse("first.eml", b"From: a\nSubject: s\n\nbody")
        process = pool.process_ids()
        with pytest.raises(InputError, match=r"'deep\.eml' is nested too deeply to be parsed"):
            await pool.parse("deep.eml", letter)
        assert pool.process_ids() == process
    finally:
        await pool.close()
