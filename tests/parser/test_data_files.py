"""CSV, TSV, JSON, XML and YAML: nothing of them is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.parser.markdown import markdown_table
from lightrag.parser.registry import parse_content, parse_file
from lightrag.parser.result import FileContent, ParsedText


def parsed(name: str, text: str) -> ParsedText:
    return parse_content(FileContent(name, text.encode()))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "Port,Depth\nOrlmark,12 m\nTessin,9 m\n"),
        ("a.csv", "Port;Depth\r\nOrlmark;12 m\r\nTessin;9 m\r\n"),
        ("a.csv", "sep=;\nPort;Depth\nOrlmark;12 m\nTessin;9 m\n"),
        ("a.tsv", "Port\tDepth\nOrlmark\t12 m\nTessin\t9 m"),
        ("a.csv", '"Port","Depth"\n"Orlmark","12 m"\n\n"Tessin","9 m"\n'),
    ],
)
def test_tables_become_markdown(name: str, text: str) -> None:
    assert parsed(name, text).text == "| Port | Depth |\n| --- | --- |\n| Orlmark | 12 m |\n| Tessin | 9 m |"


def test_cells_with_delimiters_line_ends_and_bars() -> None:
    table = parsed("a.csv", 'Port,Note\nOrlmark,"deep, wide\nand | old"\nshort\n').text
    assert table.split("\n")[2:] == ["| Orlmark | deep, wide<br>and \\| old |", "| short |  |"]


def test_a_decimal_comma_does_not_make_columns() -> None:
    assert parsed("a.csv", "Port;Depth\nOrlmark;12,5\nTessin;9,25\n").text.split("\n")[2] == "| Orlmark | 12,5 |"


def test_one_column_stays_text() -> None:
    text = "Orlmark\nTessin\n"
    assert parsed("a.csv", text).text == text


def test_a_broken_table_stays_text_with_a_warning() -> None:
    text = 'a,b\n"open,1\nc,d\n'
    outcome = parsed("a.csv", text)
    assert outcome.text == text
    assert "the table is broken" in outcome.warnings[0]


CELLS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"))


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=5))
def test_markdown_tables_have_the_same_cells_in_every_row(rows: list[list[str]]) -> None:
    lines = markdown_table(rows).split("\n")
    width = max(map(len, rows))
    assert len(lines) == len(rows) + 1
    for line, row in zip([lines[0], *lines[2:]], rows, strict=True):
        assert line.replace("\\|", "").count("|") == width + 1
        assert all(cell.strip().replace("|", "\\|") in line for cell in row)


def test_json_shows_letters_and_keeps_everything_else() -> None:
    text = (
        '{"name": "Gr\\u00f6\\u00dfe \\ud83d\\ude80", "n": 1.10, "n": 12345678901234567890123, '
        '"half": "\\ud83d", "q": "\\u0022"}'
    )
    assert parsed("a.json", text).text == (
        '{"name": "Größe 🚀", "n": 1.10, "n": 12345678901234567890123, "half": "\\ud83d", "q": "\\""}'
    )


def test_json_in_one_long_line_gets_lines() -> None:
    value = {"ports": [{"name": f"Port {number}", "depths": [1, 2], "none": [], "empty": {}} for number in range(100)]}
    text = parsed("a.json", json.dumps(value)).text
    assert json.loads(text) == value
    assert max(map(len, text.split("\n"))) < 100
    short = '{"a": [1, 2]}'
    assert parsed("a.json", short).text == short


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_json_means_the_same(value: Any) -> None:
    padded = {"padding": "x" * 1000, "value": value}
    assert json.loads(parsed("a.json", json.dumps(padded)).text) == padded


def test_broken_json_stays_text_with_a_warning() -> None:
    outcome = parsed("a.json", '{"a": ')
    assert outcome.text == '{"a": '
    assert "not valid JSON" in outcome.warnings[0]
    deep = "[" * 100_000
    assert parsed("a.json", deep).text == deep


def test_json_lines() -> None:
    assert parsed("a.jsonl", '{"a": "\\u00f6"}\n{"b": 2}\n').text == '{"a": "ö"}\n{"b": 2}\n'


def test_xml_and_yaml_keep_names_and_attributes() -> None:
    xml = '<?xml version="1.0"?><port id="1"><depth unit="m">12</depth></port>'
    assert parse_file("a.xml", xml.encode()) == xml
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'
    assert parse_file("a.xml", bomb.encode()) == bomb
    yaml = "ports:\n  - name: Orlmark # deep\n"
    assert parse_file("a.yaml", yaml.encode()) == yaml
