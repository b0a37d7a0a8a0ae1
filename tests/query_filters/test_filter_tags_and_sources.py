"""Normal forms of tags, paths, types and lists."""

import pytest

from lightrag.constants import MAX_DOCUMENT_TAG_CHARS, MAX_DOCUMENT_TAGS, MAX_QUERY_FILTER_TAGS
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import is_lossless, normalize_doc_type, normalize_source_path, normalize_tag, normalize_tags
from lightrag.query_filters.sources import MAX_TEXT_CHARS, is_under, normalize_list, stored_path


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("Patent", "patent"),
        ("Årsrapport", "arsrapport"),
        ("channel/ENG", "channel_eng"),
        ("  channel:engineering ", "channel:engineering"),
        ("Straße", "strasse"),
        ("ＦＵＬＬ：１", "full:1"),
        ("İstanbul", "istanbul"),
        ("a  b\tc", "a_b_c"),
        ("__a__b__", "a_b"),
        ("a\0b", "a_b"),
        ("e\u0301te", "ete"),
        ("person:ada-lovelace", "person:ada-lovelace"),
        ("日本", ""),
        ("tenant:日本", "tenant:"),
        ("!!!", ""),
        ("ﬁ-①", "fi-1"),
    ],
)
def test_normal_form_of_a_tag(raw: str, normal: str) -> None:
    assert normalize_tag(raw) == normal


def test_tags_are_deduplicated_in_order_and_blanks_skipped() -> None:
    assert normalize_tags(["b", " ", "A", "", "B", "a"]) == ["b", "a"]
    assert normalize_tags([]) == []
    assert normalize_tags(["  "]) == []


@pytest.mark.parametrize("tag", ["!!!", "日本", "_"])
def test_a_tag_of_which_nothing_is_left_is_refused(tag: str) -> None:
    with pytest.raises(FilterSyntaxError, match="holds none of the characters"):
        normalize_tags(["fine", tag])


def test_limits_are_errors_and_never_truncate() -> None:
    longest = "x" * MAX_DOCUMENT_TAG_CHARS
    assert normalize_tags([longest]) == [longest]
    with pytest.raises(FilterSyntaxError, match="129 characters; allowed are 128"):
        normalize_tags([longest + "x"])
    many = [f"t{number}" for number in range(MAX_DOCUMENT_TAGS)]
    assert len(normalize_tags([*many, "T0"])) == MAX_DOCUMENT_TAGS
    with pytest.raises(FilterSyntaxError, match="allowed are 64"):
        normalize_tags([*many, "one-more"])
    with pytest.raises(FilterSyntaxError, match="allowed are 32"):
        normalize_tags(many[: MAX_QUERY_FILTER_TAGS + 1], max_tags=MAX_QUERY_FILTER_TAGS)


@pytest.mark.parametrize("value", ["patent", b"patent", None, 5])
def test_a_single_text_is_no_list_of_tags(value: object) -> None:
    with pytest.raises(FilterSyntaxError, match="tags are a list of texts"):
        normalize_tags(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1, True, None, ["a"]])
def test_a_tag_is_a_text(value: object) -> None:
    with pytest.raises(FilterSyntaxError, match="a tag is a text"):
        normalize_tags([value])  # type: ignore[list-item]


def test_only_ascii_case_and_outer_blanks_change_without_loss() -> None:
    assert is_lossless(" Tenant:ACME-1 ")
    for tag in ("tenant:a/b", "tenant:日本", "tenant:é", "tenant：1", "tenant:a__b", "_tenant:1", "\u212a1"):
        assert not is_lossless(tag)


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("a/b.md", "a/b.md"),
        ("/a//b/./c/", "a/b/c"),
        ("a\\b\\c.md", "a/b/c.md"),
        ("a/../b", "b"),
        ("./Ärger/X", "Ärger/X"),
        ("/", ""),
    ],
)
def test_normal_form_of_a_path(raw: str, normal: str) -> None:
    assert normalize_source_path(raw) == normal


def test_paths_stay_inside_their_root_and_hold_no_control_characters() -> None:
    with pytest.raises(FilterSyntaxError, match="leads out of its root"):
        normalize_source_path("a/../../etc/passwd")
    for path in ("a\0b", "a\nb", "a\ud800"):
        with pytest.raises(FilterSyntaxError, match="control character"):
            normalize_source_path(path)
    with pytest.raises(FilterSyntaxError, match="allowed are 1024"):
        normalize_source_path("x" * (MAX_TEXT_CHARS + 1))
    with pytest.raises(FilterSyntaxError, match="path is a text, not 5"):
        normalize_source_path(5)  # type: ignore[arg-type]
    assert stored_path("../outside") == ""


def test_folders_end_at_segments() -> None:
    assert is_under("a/b/c", "a/b")
    assert is_under("a/b", "a/b")
    assert not is_under("a/bc", "a/b")
    assert not is_under("x/a/b", "a/b")
    assert not is_under("", "a")


def test_doc_types_have_no_case() -> None:
    assert normalize_doc_type(" PDF ") == "pdf"


def test_lists_keep_order_and_refuse_to_become_empty() -> None:
    assert normalize_list(["b", " ", "a", "b"], "names", str.strip) == ["b", "a"]
    assert normalize_list(("b", "a"), "names", str.strip) == ["b", "a"]
    assert normalize_list({"b", "a"}, "names", str.strip) == ["a", "b"]
    assert normalize_list([], "names", str.strip) == []
    assert normalize_list(None, "names", str.strip) == []  # type: ignore[arg-type]
    with pytest.raises(FilterSyntaxError, match="names holds only blank values"):
        normalize_list(["", "  "], "names", str.strip)
    with pytest.raises(FilterSyntaxError, match="names: '/' names nothing"):
        normalize_list(["a", "/"], "names", normalize_source_path)
    with pytest.raises(FilterSyntaxError, match="names lists 3 values; allowed are 2"):
        normalize_list(["a", "b", "c"], "names", str.strip, 2)
    with pytest.raises(FilterSyntaxError, match="names is a list, not 'abc'"):
        normalize_list("abc", "names", str.strip)
    with pytest.raises(FilterSyntaxError, match="names is a text, not 1"):
        normalize_list([1], "names", str.strip)  # type: ignore[list-item]
