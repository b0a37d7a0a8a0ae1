"""Cleaning of texts, names, types and keywords."""

from __future__ import annotations

import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lightrag.constants import GRAPH_FIELD_SEP, MAX_ENTITY_NAME_BYTES, MAX_ENTITY_NAME_CHARS
from lightrag.runtime.text import (
    content_summary,
    is_readable,
    normalize_entity_type,
    normalize_name,
    sanitize_text,
    split_keywords,
)
from tests.ending import ends


@pytest.mark.parametrize("text", ["", " \n\t\u00a0\u3000", "\u200b", "\u200d\ufe0f \ufeff\u2060", "\u00ad\u202e\u3164"])
def test_nothing_to_read(text: str) -> None:
    assert not is_readable(text)
    assert is_readable(f"{text}.{text}")


any_text = st.text(st.characters())
# Text in which cleaning has something to do far more often than in random text.
# fmt: off
rough_parts = [
    "&amp;", "&lt;", "&#38;", "&#x26;", "&a&#109;p;", "&", "#38;", "amp;", "<SEP>", "SEP", "<", ">", "(", ")",
    "[", "]", "{", "}", "\"", "'", "“", "”", "„", "«", "»", "「", "」", "**", "*", "`", "&#7;", "&#xd800;",
    "&nbsp;", "|", ",", "e", "é", "A", "b", "K", "İ", "ß", "日本", "👩‍👩‍👧",
]
# fmt: on
rough_controls = [" ", "\t", "\n", "\r", "\0", "\x1e", "\x1f", "\x85", "\u200b", "\u200d", "\ufeff", "\u00ad"]
rough_marks = ["\u0301", "\ud800", "\ufffe"]
rough_text = st.lists(st.sampled_from(rough_parts + rough_controls + rough_marks), max_size=14).map("".join)
names = any_text | rough_text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  a\r\nb\rc  ", "a\nb\nc"),
        ("page one\x0cpage two", "page one\npage two"),
        ("a\x00b\x07c\x1bd\x7fe\x9ff", "abcdef"),
        ("tab\tkept", "tab\tkept"),
        ("lone \ud83d surrogate", "lone  surrogate"),
        ("Caf&eacute; &lt;b&gt; &#128512;", "Café <b> 😀"),
        ("&amp;lt;", "&lt;"),
        ("a\ufffeb\uffff", "ab"),
        ("\x00 \n\t", ""),
        ("👩‍👩‍👧 \u200b stays", "👩‍👩‍👧 \u200b stays"),
    ],
)
def test_texts(raw: str, clean: str) -> None:
    assert sanitize_text(raw) == clean


@given(names)
def test_a_clean_text_can_be_stored_anywhere(text: str) -> None:
    clean = sanitize_text(text)
    clean.encode("utf-8")
    assert clean == clean.strip()
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in clean if character not in "\n\t")
    element = ElementTree.Element("text")
    element.text = clean
    assert ElementTree.fromstring(ElementTree.tostring(element)).text == (clean or None)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  Inspector \n Marlow ", "Inspector Marlow"),
        ('"Alice"', "Alice"),
        ("'Alice'", "Alice"),
        ("“Alice”", "Alice"),
        ("„Alice“", "Alice"),
        ("«Alice»", "Alice"),
        ("`Alice`", "Alice"),
        ("**Alice**", "Alice"),
        ("[Alice]", "Alice"),
        ("<Alice>", "Alice"),
        ("「東京」", "東京"),
        ('("[Alice]")', "Alice"),
        ("( Alice )", "Alice"),
        ("(a) and (b)", "(a) and (b)"),
        ('"A" and "B"', '"A" and "B"'),
        ("f(x)", "f(x)"),
        ("A*", "A*"),
        ("__init__", "__init__"),
        ("O'Brien", "O'Brien"),
        ("'Salem's Lot'", "'Salem's Lot'"),
        ("()", "()"),
        ('""', ""),
        ("AT&amp;amp;T", "AT&T"),
        ("a\x1fb\x1ec", "abc"),
        ("a<SEP>b", "a b"),
        ("&lt;SEP&gt;", ""),
        ("<\u200bSEP>", ""),
        ("Mc\u00adCoy", "McCoy"),
        ("\ufeffAlice", "Alice"),
        ("Zoe\u0308", "Zoë"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("İzmir", "İzmir"),
        (1984, "1984"),
        (None, ""),
    ],
)
def test_names(raw: object, clean: str) -> None:
    assert normalize_name(raw) == clean


@given(names | st.text("(['\"<>])*` &a", max_size=12) | names.map(lambda text: text * 60))
@example("&a&#109;p;#38;" * 200)
@example("&" + "amp;" * 40 + "lt;")
@example("((((((((((" * 40 + "x" + "))))))))))" * 40)
@example("👩‍👩‍👧‍👦" * 60)
@example("🇩🇪" * 200)
@example("e" + "\u0301" * 600)
def test_a_name_is_stable_clean_and_bounded(raw: str) -> None:
    name = normalize_name(raw)
    assert normalize_name(name) == name
    assert len(name) <= MAX_ENTITY_NAME_CHARS
    assert len(name.encode("utf-8")) <= MAX_ENTITY_NAME_BYTES
    assert name == " ".join(name.split())
    assert GRAPH_FIELD_SEP not in name
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in name)


@given(st.text(st.characters(categories=("L", "N")), min_size=200, max_size=400), st.data())
def test_two_long_names_stay_two(name: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(name) - 1))
    other = name[:position] + data.draw(st.characters(categories=("L", "N"))) + name[position + 1 :]
    assume(unicodedata.normalize("NFC", name) != unicodedata.normalize("NFC", other))
    assert normalize_name(name) != normalize_name(other)


def test_a_long_name_keeps_its_start_and_whole_characters() -> None:
    family = "👩‍👩‍👧‍👦"
    name = normalize_name(family * 40)
    head, mark, digest = name.rpartition("~")
    assert mark
    assert len(digest) == 16
    assert head == family * (len(head) // len(family))


@pytest.mark.parametrize(
    "raw", ["(" * 500_000 + "x" + ")" * 500_000, "&a&#109;p;#38;" * 70_000, "'" * 1_000_000, "\u0301" * 1_000_000]
)
def test_a_million_characters_do_not_cost_their_square(raw: str) -> None:
    with ends():
        normalize_name(raw)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("Person", "person"),
        ("<Person|Organization>", "person"),
        (" Natural  Object ", "natural object"),
        ('"event"', "event"),
        ("(Person), Place", "person"),
        ("", "UNKNOWN"),
        ("unknown", "UNKNOWN"),
        ("UNKNOWN", "UNKNOWN"),
        (None, "UNKNOWN"),
        (" | ", "UNKNOWN"),
    ],
)
def test_entity_types(raw: object, kind: str) -> None:
    assert normalize_entity_type(raw) == kind


@given(names)
def test_an_entity_type_is_stable(raw: str) -> None:
    kind = normalize_entity_type(raw)
    assert kind
    assert normalize_entity_type(kind) == kind
    assert len(kind) <= MAX_ENTITY_NAME_CHARS


@pytest.mark.parametrize(
    ("raw", "keywords"),
    [
        ("theft, alibi ,theft", ["theft", "alibi"]),
        ("a；b、c，d|e\nf", ["a", "b", "c", "d", "e", "f"]),
        ('"power  struggle", (law)', ["power struggle", "law"]),
        (["a, b", None, 3, "", "b"], ["a", "b", "3"]),
        (" , ;", []),
        ("", []),
    ],
)
def test_keywords(raw: str | list[object], keywords: list[str]) -> None:
    assert split_keywords(raw) == keywords


@given(names | st.lists(names))
def test_keywords_are_stable(raw: str | list[str]) -> None:
    keywords = split_keywords(raw)
    assert len(set(keywords)) == len(keywords)
    assert all(keyword.strip() for keyword in keywords)


def test_summaries() -> None:
    assert content_summary("  short \n") == "short"
    assert content_summary("x" * 250) == "x" * 250
    assert content_summary("x" * 251) == "x" * 249 + "…"
    assert content_summary("word " * 100, 11) == "word word…"
    assert content_summary("👩‍👩‍👧" * 60) == "👩‍👩‍👧" * 49 + "…"


@given(any_text, st.integers(1, 300))
def test_a_summary_fits(text: str, limit: int) -> None:
    assert len(content_summary(text, limit)) <= limit
