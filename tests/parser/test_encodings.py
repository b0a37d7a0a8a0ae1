"""Encodings of text files."""

from __future__ import annotations

import codecs
import sys

import pytest

from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.parser.encodings import decode
from lightrag.parser.registry import parse_content, parse_file
from lightrag.parser.result import FileContent
from lightrag.parser.text import decode_text

TEXT = "Überschrift\n\n日本語 👩‍🚀\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        "\ufeff" + TEXT,
    ],
)
def test_unicode_and_line_ends(data: bytes | str) -> None:
    assert decode_text(data) == TEXT


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "港口在1931年疏浚。北京市海淀区中关村大街。"),
        ("gb18030", "姓名,年龄\n张三,25\n李四,30\n"),
        ("shift_jis", "オルマルク港は1931年に浚渫されました。"),
        ("shift_jis", "名前,年齢\n山田,25\n鈴木,30\n"),
        ("euc_jp", "吾輩は猫である。名前はまだ無い。"),
        ("euc_kr", "오름마르크 항구는 1931년에 준설되었다."),
        ("big5", "港口於一九三一年疏浚，水深十二公尺。"),
        ("latin-1", "Der Übergang über die Brücke ist für Fußgänger gesperrt."),
        ("latin-1", "España y el niño; ¿qué pasó mañana?"),
        ("cp1252", "Le port d’Orlmark a été dragué – coûts élevés, naïveté. “Très bien” dit-elle."),
        ("cp1252", "name;ort\nMüller;Köln\nJosé;Málaga\n"),
        ("cp1250", "Zażółć gęślą jaźń. Port został pogłębiony w 1931 roku."),
        ("cp1251", "Порт Орлмарк был углублен в 1931 году."),
        ("koi8-r", "Порт Орлмарк был углублен в 1931 году."),
        ("utf-16-le", "Plain text without a mark, größer"),
        ("utf-16-be", "Plain text without a mark, größer"),
    ],
)
def test_other_encodings_are_guessed_and_said_to_be(encoding: str, text: str) -> None:
    parsed = parse_content(FileContent("a.txt", text.encode(encoding)))
    assert parsed.text == text
    assert parsed.warnings[0].startswith("the encoding was guessed to be ")


def test_a_declared_encoding_is_taken_where_it_fits() -> None:
    data = "Größe".encode("latin-1")
    assert decode(data, "a", "ISO-8859-1").text == "Größe"
    assert not decode(data, "a", "iso-8859-1").guessed
    # A wrong claim does no harm: UTF-8 is told from its bytes, and an unknown name is passed over.
    assert decode("Größe".encode(), "a", "latin-1").text == "Größe"
    assert decode("Größe, Maß und Übermut".encode("latin-1"), "a", "no-such-thing").text == "Größe, Maß und Übermut"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x7fABC\x00\x00\x00\x01\x00\x00\x00", "is not text"),
        (bytes(range(256)) * 8, "no text in any other known encoding"),
        (b"\x01\x02\x03\x04\x05\x06text", "is not text"),
        (codecs.BOM_UTF16_LE + b"a", "byte order mark of UTF-16-LE, but is not"),
    ],
)
def test_rubbish_is_refused_with_a_reason(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_file("a.txt", data)
    assert "'a.txt'" in str(caught.value)


def test_one_broken_character_does_not_change_the_encoding() -> None:
    text = "Größe und Übermut, Maß und Überfluß, Ärger und Öde, 日本語。 " * 3
    data = text.encode().replace("Maß".encode(), b"Ma\xc3", 1)
    parsed = parse_content(FileContent("a.txt", data))
    assert parsed.text == text.replace("Maß", "Ma\ufffd", 1)
    assert parsed.warnings == ("broken characters were replaced by U+FFFD: 1",)
    page = corpus_page("utf-8", "Plain English text. " * 20).replace(b"English", b"Engl\xffish", 1)
    assert "Plain Engl\ufffdish text." in parse_content(FileContent("a.html", page)).text


def test_a_stray_nul_is_left_to_the_cleaning_of_text() -> None:
    assert parse_file("a.txt", b"twenty letters and \x00 one NUL") == "twenty letters and \x00 one NUL"


def test_without_the_extra_only_unicode_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chardet", None)
    assert parse_file("a.txt", "Größe".encode()) == "Größe"
    with pytest.raises(MissingDependencyError, match=r"lightrag-hku\[documents\]") as caught:
        parse_file("a.txt", "Größe".encode("latin-1"))
    assert caught.value.extra == "documents"


def test_encodings_that_pages_and_xml_declare() -> None:
    chinese = "中文内容"
    page = corpus_page("gb2312", chinese)
    assert chinese in parse_content(FileContent("a.html", page)).text
    xml = '<?xml version="1.0" encoding="ISO-8859-15"?><price>5 € größer</price>'
    parsed = parse_content(FileContent("a.xml", xml.encode("iso-8859-15")))
    assert parsed.text == xml
    assert parsed.warnings == ()


def corpus_page(charset: str, text: str) -> bytes:
    return f'<html><head><meta charset="{charset}"></head><body><p>{text}</p></body></html>'.encode(charset)
