"""Hints in file names, rules, and what they choose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.exceptions import InputError
from lightrag.parser.routing import (
    ENGINES,
    ProcessingOptions,
    Route,
    choose_route,
    engine_extensions,
    parse_options,
    parse_rules,
    split_hint,
)

NONE = ProcessingOptions()
BOTH = frozenset({"docling", "mineru"})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("report.[docling].pdf", ("report.pdf", "docling", NONE)),
        ("a/b.c/report.2024.[MinerU-!].PDF", ("a/b.c/report.2024.PDF", "mineru", ProcessingOptions(skip_graph=True))),
        ("report.[-P].md", ("report.md", "", ProcessingOptions(chunking="paragraph_semantic"))),
        ("report.[native-iet].docx", ("report.docx", "native", ProcessingOptions(True, True, True))),
        ("report.[legacy-].pdf", ("report.pdf", "legacy", NONE)),
    ],
)  # fmt: skip
def test_hints(name: str, expected: tuple[str, str, ProcessingOptions]) -> None:
    assert split_hint(name) == expected


@pytest.mark.parametrize(
    "name",
    ["report.pdf", "report[docling].pdf", "[docling].pdf", ".[docling].pdf", "report.[docling]", "a.[b]/report.pdf", "",
     "report.[docling].", "[docling]/x.pdf", "a.[docling].tar.gz"],
)  # fmt: skip
def test_names_without_a_hint(name: str) -> None:
    assert split_hint(name) == (name, "", NONE)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("report.[draft].pdf", "unknown engine 'draft'; allowed are legacy, native, docling, mineru"),
        ("report.[docling-x].pdf", "unknown option 'x'; allowed are i t e ! F R V P C"),
        ("report.[-FR].pdf", "two chunking strategies"),
        ("report.[-ii].pdf", "option 'i' is there twice"),
        ("report.[].pdf", "it is empty"),
        ("report.[-].pdf", "it is empty"),
    ],
)
def test_hints_that_cannot_be_used(name: str, message: str) -> None:
    with pytest.raises(InputError, match="parser hint that cannot be used") as caught:
        split_hint(name)
    assert repr(name) in str(caught.value)
    assert message in str(caught.value)


@given(st.text(), st.sampled_from(sorted(ENGINES)), st.sampled_from(["", "-F", "-!", "-iP"]))
def test_a_hint_is_taken_off_and_nothing_else(stem: str, engine: str, options: str) -> None:
    stem = stem.replace("\x00", "").rstrip("/\\.") or "x"
    name, found, _ = split_hint(f"{stem}.[{engine}{options}].pdf")
    assert (name, found) == (f"{stem}.pdf", engine)


def test_options() -> None:
    assert parse_options("it!V") == ProcessingOptions(True, True, False, True, "semantic_vector")
    assert parse_options("i").needs_vision
    assert not parse_options("!C").needs_vision


def test_rules() -> None:
    rules = parse_rules("pdf:docling-F; *.ppt*:mineru,\n .md:-P")
    assert [(rule.pattern, rule.engine, rule.options.chunking) for rule in rules] == [
        ("pdf", "docling", "fixed_token"),
        ("ppt*", "mineru", None),
        ("md", "", "paragraph_semantic"),
    ]
    assert parse_rules(" ") == ()


@pytest.mark.parametrize("text", ["pdf", ":docling", "pdf:", "pdf:magic", "pdf:docling-Z"])
def test_rules_that_cannot_be_used(text: str) -> None:
    with pytest.raises(InputError, match=f"parser rule {text!r}"):
        parse_rules(text)


def test_the_hint_wins_then_the_rules_then_the_built_in_engine() -> None:
    rules = parse_rules("pdf:docling-F,*:mineru-!")
    assert choose_route("a.[legacy-R].pdf", rules, BOTH) == Route("a.pdf", "legacy", parse_options("R"))
    assert choose_route("a.[mineru].pdf", rules, BOTH) == Route("a.pdf", "mineru", parse_options("F"))
    assert choose_route("a.pdf", rules, BOTH) == Route("a.pdf", "docling", parse_options("F"))
    assert choose_route("a.pptx", rules, BOTH) == Route("a.pptx", "mineru", parse_options("!"))
    # A rule is passed over for files that its engine does not read.
    assert choose_route("a.txt", rules, BOTH) == Route("a.txt")
    assert choose_route("a.[-C].txt", rules) == Route("a.txt", "legacy", parse_options("C"))
    assert choose_route("a.[native].docx", ()) == Route("a.docx")


def test_pictures_go_to_an_engine_that_reads_them() -> None:
    assert choose_route("scan.png", (), frozenset({"mineru"})).engine == "mineru"
    with pytest.raises(InputError, match=r"'legacy' does not parse '\.png'"):
        choose_route("scan.png", ())


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("a.[docling].pdf", "", r"the hint in 'a\.\[docling\]\.pdf' asks for .*DOCLING_ENDPOINT"),
        ("a.pdf", "pdf:mineru", "a rule of LIGHTRAG_PARSER asks for .*MINERU_LOCAL_ENDPOINT"),
        ("a.[docling].txt", "", r"'docling' does not parse '\.txt'"),
        ("a.[native].pdf", "", r"'native' does not parse '\.pdf'; it parses \.docx, \.md"),
        ("noextension", "", "does not parse 'files without a suffix'"),
    ],
)
def test_routes_that_lead_nowhere(name: str, rules: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_route(name, parse_rules(rules))


def test_extensions_list_only_engines_that_are_set_up() -> None:
    assert set(engine_extensions()) == {"legacy", "native"}
    assert ".png" in engine_extensions(frozenset({"docling"}))["docling"]
