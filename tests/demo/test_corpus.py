"""The demo corpus is what its metadata and its questions say it is.

Eligibility is worked out here from the plain meaning of the filters, apart from the engine's own code,
so that a mistake in the engine and a mistake in the question file cannot agree with each other.
"""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parents[2] / "demo"
CORPUS = DEMO / "corpus"
METADATA: dict[str, dict[str, Any]] = json.loads((CORPUS / "metadata.json").read_text(encoding="utf-8"))
QUESTIONS: dict[str, list[dict[str, Any]]] = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))

CHAPTERS = [f"mystery/chapter-{number:02d}.md" for number in range(1, 11)]
ARCHIVE = sorted(name for name in METADATA if name.startswith("archive/"))
FILTERED = QUESTIONS["archive_filters"] + QUESTIONS["reader_scopes"]

# The chapter in which a reader may learn of each of these, and not before.
REVELATIONS = {
    "Coldwater Ledger": 4,
    "filed wheel": 4,
    "Silvan Creed": 5,
    "Abbot's Stair": 5,
    "Marigold Queen": 6,
    "Captain Jory Ashgrove": 6,
    "Heron": 7,
    "green ink": 7,
    "Grayling": 8,
    "Everard Lisle murdered": 8,
    "Marian": 10,
    "Hester Quillane is Marian Ashgrove": 10,
    "mother of Rosamund Verrall": 10,
}

# Spread over the book, so that each has something to say in most scopes.
CAST = [
    "Inspector Edda Marlowe",
    "Sergeant Bram Tolliver",
    "Augustin Verrall",
    "Rosamund Verrall",
    "Lucian Verrall",
    "Hester Quillane",
    "Everard Lisle",
    "Dr. Matthias Orne",
    "Professor Ismene Calloway",
    "Wilfred Haddow",
    "Tidewater Clock",
    "Gannet Light",
    "Verrall House",
]

# Entities that ought to join one archive document to another.
SHARED = [
    "Velmouth",
    "River Vellan",
    "Ottoline Brandreth",
    "Hallowgate Bridge",
    "Vellan Vale Bank",
    "Vellan Iron and Dredging Company",
    "Velmouth Harbour Commissioners",
    "Jonas Ketterick",
    "Patent No. 2207",
    "Patience",
]

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


def text_of(name: str) -> str:
    return (CORPUS / name).read_text(encoding="utf-8")


def bounds(name: str) -> tuple[datetime | None, datetime | None]:
    row = METADATA[name]
    start, end = (datetime.fromisoformat(row[key]) if row[key] else None for key in ("start_date", "end_date"))
    return start, end


def date_matches(name: str, wanted: dict[str, Any]) -> bool:
    start, end = bounds(name)
    undated = start is None and end is None
    mode = wanted.get("undated", "exclude")
    if undated:
        return mode in {"include_or", "only"}
    if mode == "only":
        return False
    shapes = {
        "any": True,
        "dated": True,
        "bounded": start is not None and end is not None,
        "has_start": start is not None,
        "has_end": end is not None,
    }
    if not shapes[wanted.get("shape", "any")]:
        return False
    if "range" not in wanted:
        assert mode == "exclude"  # without a range, include_or means something narrower than this
        return True
    low, high = (datetime.fromisoformat(wanted["range"][key]) for key in ("start", "end"))
    first, last = start or EARLIEST, end or LATEST
    relations = {
        "overlap": first <= high and last >= low,
        "contains": first <= low and last >= high,
        "contained_by": first >= low and last <= high,
    }
    return relations[wanted.get("range_mode", "overlap")]


def eligible(wanted: dict[str, Any]) -> list[str]:
    required = set(wanted.get("required_tags", []))
    every = wanted.get("required_tags_mode", "and") == "and"
    found = []
    for name, row in METADATA.items():
        tags = set(row["tags"])
        tags_match = not required or (required <= tags if every else bool(required & tags))
        if tags_match and ("date_filter" not in wanted or date_matches(name, wanted["date_filter"])):
            found.append(name)
    return sorted(found)


def first_chapter_with(words: str) -> int | None:
    for number, name in enumerate(CHAPTERS, start=1):
        if words.casefold() in text_of(name).casefold():
            return number
    return None


def test_every_file_has_metadata_and_every_row_has_a_file() -> None:
    files = {
        path.relative_to(CORPUS).as_posix()
        for path in CORPUS.rglob("*")
        if path.is_file() and path != CORPUS / "metadata.json"
    }
    assert files == set(METADATA)
    assert set(CHAPTERS) | set(ARCHIVE) == files


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_about_six_hundred_words(name: str) -> None:
    assert 550 <= len(text_of(name).split()) <= 700


@pytest.mark.parametrize("name", ARCHIVE)
def test_an_archive_document_is_short(name: str) -> None:
    assert 120 <= len(text_of(name).split()) <= 350


def test_there_are_about_twenty_archive_documents_of_every_kind() -> None:
    assert 18 <= len(ARCHIVE) <= 24
    assert {METADATA[name]["doc_type"] for name in ARCHIVE} == {
        "act",
        "patent",
        "hansard",
        "newspaper",
        "letter",
        "filing",
        "catalogue-note",
    }


@pytest.mark.parametrize("name", sorted(METADATA))
def test_metadata_is_well_formed(name: str) -> None:
    row = METADATA[name]
    assert set(row) == {"start_date", "end_date", "tags", "meta", "doc_type", "source_path"}
    start, end = bounds(name)
    assert all(bound.utcoffset() is not None for bound in (start, end) if bound is not None)
    if start is not None and end is not None:
        assert start <= end
    assert row["tags"]
    assert len(row["tags"]) == len(set(row["tags"]))
    assert all(re.fullmatch(r"[a-z0-9_-]+:[a-z0-9:_-]+", tag) for tag in row["tags"])
    assert f"type:{row['doc_type']}" in row["tags"]
    assert row["source_path"] == name
    assert row["meta"].get("href", "https://archive.example/").startswith("https://archive.example/")


def test_the_archive_has_every_shape_of_date() -> None:
    shapes = {tuple(bound is not None for bound in bounds(name)) for name in ARCHIVE}
    assert shapes == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize("number", range(1, 11))
def test_chapter_tags_are_carried_forward_to_the_end_of_the_book(number: int) -> None:
    tags = METADATA[CHAPTERS[number - 1]]["tags"]
    assert [tag for tag in tags if tag.startswith("chapter:")] == [f"chapter:{number:02d}"]
    known = [tag for tag in tags if tag.startswith("known-in-chapter:")]
    assert known == [f"known-in-chapter:{later:02d}" for later in range(number, 11)]


def test_archive_documents_carry_no_scope() -> None:
    assert not [tag for name in ARCHIVE for tag in METADATA[name]["tags"] if tag.startswith("known-in-chapter:")]


@pytest.mark.parametrize(("words", "chapter"), REVELATIONS.items())
def test_nothing_is_told_before_its_chapter(words: str, chapter: int) -> None:
    assert first_chapter_with(words) == chapter
    assert not [name for name in ARCHIVE if words.casefold() in text_of(name).casefold()]
    earlier = json.dumps([METADATA[name] for name in CHAPTERS[: chapter - 1]])
    assert words.casefold() not in earlier.casefold()


@pytest.mark.parametrize("name", CAST)
def test_the_cast_is_stable(name: str) -> None:
    assert sum(name in text_of(chapter) for chapter in CHAPTERS) >= 5
    assert (first_chapter_with(name) or 99) <= 2


def test_the_twist_concerns_someone_from_chapter_one() -> None:
    assert first_chapter_with("Hester Quillane") == 1
    assert "Hester Quillane is Marian Ashgrove" in text_of(CHAPTERS[9])


@pytest.mark.parametrize("name", SHARED)
def test_shared_entities_join_the_archive(name: str) -> None:
    assert sum(name in text_of(document) for document in ARCHIVE) >= 4


def test_the_question_file_has_the_three_sets() -> None:
    assert {kind: len(questions) for kind, questions in QUESTIONS.items()} == {
        "first_demo": 5,
        "archive_filters": 4,
        "reader_scopes": 3,
    }
    identifiers = [question["id"] for questions in QUESTIONS.values() for question in questions]
    assert len(identifiers) == len(set(identifiers))
    assert all(question["expect_sources"] for questions in QUESTIONS.values() for question in questions)
    assert all(source in METADATA for q in QUESTIONS["first_demo"] for source in q["expect_sources"])


@pytest.mark.parametrize("question", FILTERED, ids=lambda question: question["id"])
def test_the_eligible_list_is_what_the_filter_means(question: dict[str, Any]) -> None:
    assert sorted(question["eligible"]) == eligible(question["filter"])
    assert set(question["expect_sources"]) <= set(question["eligible"])


@pytest.mark.parametrize("question", QUESTIONS["archive_filters"], ids=lambda question: question["id"])
def test_the_date_part_of_an_archive_filter_matters(question: dict[str, Any]) -> None:
    tags_only = {key: value for key, value in question["filter"].items() if key != "date_filter"}
    assert len(eligible(tags_only)) > len(question["eligible"])


@pytest.mark.parametrize("question", QUESTIONS["reader_scopes"], ids=lambda question: question["id"])
def test_a_reader_scope_hides_only_what_comes_later(question: dict[str, Any]) -> None:
    told = " ".join(text_of(name) for name in question["eligible"])
    assert all(words in told for words in question["must_mention"])
    for name in question["must_not_mention"]:
        first = first_chapter_with(name)
        assert first is not None
        assert first > question["after_chapter"]


def test_the_early_scope_has_something_to_hide() -> None:
    early, *later = QUESTIONS["reader_scopes"]
    assert len(early["must_not_mention"]) >= 5
    assert {question["question"] for question in later} == {early["question"]}
    assert "Marian Ashgrove" in early["must_not_mention"]
