"""Sections of Markdown: headings as context, tables whole, nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.chunker.blocks import markdown_blocks
from lightrag.chunker.registry import chunk_text
from lightrag.runtime.tokens import TiktokenTokenizer

BPE = TiktokenTokenizer()


class Words:
    """One token per word, which is easy to count."""

    def encode(self, content: str) -> list[int]:
        return [len(word) for word in content.split()]

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join("x" * length for length in tokens)


def cut(text: str, size: int, tokenizer: Any = None, **params: Any) -> list[dict[str, Any]]:
    given_params = {"chunk_token_size": size, "chunk_overlap_token_size": 0, **params}
    return chunk_text(tokenizer or Words(), text, "paragraph_semantic", given_params)


def words(count: int, name: str = "w") -> str:
    return " ".join(f"{name}{number}" for number in range(count))


def test_each_chunk_knows_the_headings_it_stands_under() -> None:
    text = f"# Report\n\n## Ports\n\n{words(8)}\n\n### North\n\n{words(8)}\n\n## Ships\n\n{words(8)}\n"
    rows = cut(text, 12)
    assert [row["heading"] for row in rows] == [["Report", "Ports"], ["Report", "Ports", "North"], ["Report", "Ships"]]
    assert [row["content"].split("\n")[0] for row in rows] == ["# Report", "### North", "## Ships"]
    assert [row["chunk_order_index"] for row in rows] == [0, 1, 2]
    assert "".join("".join(row["content"].split()) for row in rows) == "".join(text.split())


def test_small_sections_are_joined_under_what_they_share() -> None:
    text = "# Report\n\n## A\n\none two\n\n## B\n\nthree four\n\n# Annex\n\nfive\n"
    (row,) = cut(text, 100)
    assert row["heading"] == []
    assert row["content"] == text.strip()
    rows = cut("# Report\n\n## A\n\none two\n\n## B\n\nthree four\n", 100)
    assert [row["heading"] for row in rows] == [["Report"]]


def test_a_long_section_is_cut_between_paragraphs_and_keeps_its_heading() -> None:
    text = f"# Report\n\n{words(6, 'a')}\n\n{words(6, 'b')}\n\n{words(6, 'c')}\n"
    rows = cut(text, 9)
    assert [row["content"] for row in rows] == [f"# Report\n\n{words(6, 'a')}", words(6, "b"), words(6, "c")]
    assert all(row["heading"] == ["Report"] for row in rows)


def test_a_heading_never_stands_alone_at_the_end() -> None:
    text = f"# Report\n\n## Ports\n\n{words(40)}\n"
    rows = cut(text, 10)
    assert rows[0]["content"].startswith("# Report\n\n## Ports\n\nw0")
    assert all(row["heading"] == ["Report", "Ports"] for row in rows)
    assert all(row["tokens"] <= 10 for row in rows)
    assert " ".join(row["content"] for row in rows).split()[4:] == words(40).split()


TABLE = "| Port | Depth |\n| --- | --- |\n" + "\n".join(f"| Port{number} | {number} m |" for number in range(20))


def test_a_table_that_fits_is_not_cut() -> None:
    table_tokens = len(Words().encode(TABLE))
    text = f"# Ports\n\n{words(20, 'before')}\n\n{TABLE}\n\n{words(20, 'after')}\n"
    rows = cut(text, table_tokens)
    assert sum(TABLE in row["content"] for row in rows) == 1
    assert all(row["heading"] == ["Ports"] for row in rows)


def test_a_table_that_does_not_fit_is_cut_between_rows_with_its_head() -> None:
    rows = cut(f"# Ports\n\n{TABLE}\n", 60)
    assert len(rows) > 1
    assert all("| Port | Depth |\n| --- | --- |\n" in row["content"] for row in rows)
    assert rows[0]["content"].startswith("# Ports\n\n| Port |")
    body = [
        line for row in rows for line in row["content"].split("\n") if line.startswith("| Port") and "Depth" not in line
    ]
    assert body == TABLE.split("\n")[2:]
    assert all(row["tokens"] <= 60 for row in rows)


def test_a_row_that_is_too_long_alone_is_cut_like_text() -> None:
    text = f"| a | b |\n| --- | --- |\n| {words(50)} | x |\n| c | d |\n"
    rows = cut(text, 20)
    assert all(row["tokens"] <= 20 for row in rows)
    assert f"{words(50)} | x |".split()[-10:] == " ".join(row["content"] for row in rows[:-1]).split()[-10:]


def test_code_is_no_heading_and_no_table() -> None:
    text = "# Code\n\n```python\n# no heading\n\n| no | table |\n| --- | --- |\n```\n\nAfter.\n"
    kinds = [(block.kind, block.headings) for block in markdown_blocks(text)]
    assert kinds == [("heading", ("Code",)), ("code", ("Code",)), ("paragraph", ("Code",))]
    assert [block.kind for block in markdown_blocks("~~~\n# open to the end\n")] == ["code"]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Report\n======\n\nPorts\n-----\n\ntext", ("Report", "Ports")),
        ("# Report #\n\n## **Bold** `code`\n\ntext", ("Report", "Bold code")),
        ("### Deep\n\n# Top\n\ntext", ("Top",)),
        ("#No heading\n\ntext", ()),
        ("text\n\n---\n\nmore", ()),
        ("####### seven\n\ntext", ()),
        ("# \n\ntext", ()),
    ],
)
def test_headings_of_every_form(text: str, headings: tuple[str, ...]) -> None:
    assert markdown_blocks(text)[-1].headings == headings


def test_lists_of_references_are_left_out_when_asked() -> None:
    text = "# Paper\n\nBody.\n\n## 7. References\n\n[1] A book.\n\n### Online\n\n[2] A page.\n\n## Appendix\n\nMore.\n"
    kept = " ".join(row["content"] for row in cut(text, 100, drop_references=True))
    assert "Body." in kept
    assert "More." in kept
    assert "[1]" not in kept
    assert "[2]" not in kept
    assert "[1]" in " ".join(row["content"] for row in cut(text, 100))
    assert cut("# 参考文献\n\n[1]", 10, drop_references=True) == []


PARTS = st.lists(
    st.sampled_from(
        ["# One\n", "## Two\n\n", "### Three\n", "Text here. And more.\n\n", "word " * 12 + "\n", "\n", "| a | b |\n",
         "| --- | --- |\n", "```\n", "日本語。", "👨\u200d👩\u200d👧", "Under\n===\n", "- item\n", "---\n"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(PARTS, st.integers(3, 40))
def test_blocks_are_the_whole_text_and_chunks_lose_nothing(text: str, size: int) -> None:
    blocks = markdown_blocks(text)
    assert "".join(text[block.start : block.end] for block in blocks) == text
    rows = cut(text, size, BPE)
    joined = "".join("".join(row["content"].split()) for row in rows)
    if "| --- |" not in text:
        assert joined == "".join(text.split())
    for part in set(text.replace("|", " ").split()):
        assert part in joined or not rows or len(part) > size
