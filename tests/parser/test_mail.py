"""Letters."""

from __future__ import annotations

import pytest

from lightrag.parser.registry import parse_content
from lightrag.parser.result import FileContent, ParsedText
from tests.parser import corpus


def parsed(message: bytes) -> ParsedText:
    return parse_content(FileContent("letter.eml", message))


def test_headers_text_and_attachment() -> None:
    text = parsed(corpus.eml()).text
    assert text.startswith(
        "# Hafen größe\n\nFrom: Ada <ada@example.org>\nTo: bob@example.org\nDate: Tue, 02 Mar 1926 10:00:00 +0100\n\n"
    )
    assert "The same in HTML" not in text
    assert text.index(corpus.SENTENCE) < text.index("## Attachment: report.docx") < text.index("| Orlmark | 12 m |")


@pytest.mark.parametrize(
    ("charset", "body"), [("gb18030", "港口疏浚"), ("iso-2022-jp", "浚渫されました"), ("iso-8859-1", "Größe")]
)
def test_charsets(charset: str, body: str) -> None:
    assert body in parsed(corpus.letter(body=body, charset=charset).as_bytes()).text


def test_a_body_whose_charset_is_wrong_or_unknown() -> None:
    head = b"Subject: s\nContent-Type: text/plain; charset=x-nobody-knows\nContent-Transfer-Encoding: 8bit\n\n"
    assert "Größe und Maß" in parsed(head + "Größe und Maß".encode()).text
    wrong = b"Subject: s\nContent-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: 8bit\n\n"
    assert "Größe und Maß" in parsed(wrong + "Größe und Maß".encode("latin-1")).text


def test_html_only() -> None:
    message = corpus.letter(body=None)
    message.set_content(f"<h1>Head</h1><p>Only HTML</p>{corpus.html_table()}", subtype="html")
    text = parsed(message.as_bytes()).text
    assert "# Head\n" in text
    assert "| Orlmark | 12 m" in text


def test_what_cannot_be_parsed_is_named_and_the_rest_is_there() -> None:
    message = corpus.letter()
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="logo.png")
    message.add_attachment(corpus.pdf(password="secret"), maintype="application", subtype="pdf", filename="secret.pdf")
    outcome = parsed(message.as_bytes())
    assert corpus.SENTENCE in outcome.text
    assert outcome.warnings[0] == "attachment 'logo.png': 'logo.png' is of a type that cannot be parsed"
    assert outcome.warnings[1].startswith("attachment 'secret.pdf': 'secret.pdf' is protected by a password")


def test_an_attached_letter_is_parsed_but_not_what_is_attached_to_it() -> None:
    inner = corpus.letter(body="The inner letter.")
    inner.add_attachment("notes", subtype="plain", filename="notes.txt")
    outer = corpus.letter(body="The outer letter.")
    outer.add_attachment(inner)
    outcome = parsed(outer.as_bytes())
    assert "The outer letter." in outcome.text
    assert "## Attachment: letter\n" in outcome.text
    assert "The inner letter." in outcome.text
    assert "attached to an attached letter" in outcome.warnings[0]


def test_a_letter_without_text() -> None:
    assert parsed(b"Subject: Only this\n\n").text == "# Only this\n"


@pytest.mark.parametrize(
    "message",
    [
        b"From: <<<\nTo: @,;:\nDate: never\nSubject: =?utf-8?b?!!?=\n\nbody",
        b"From: a@b\nContent-Type: multipart/mixed\n\nno parts",
        b"From: a@b\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n--x--",
        b"From: a@b\nContent-Type: message/rfc822\n\n",
        b"From: a@b\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n!!!",
        b"From: a@b\nContent-Type: /;;;\n\nbody",
    ],
)
def test_letters_that_break_the_rules_do_not_break_the_parser(message: bytes) -> None:
    assert isinstance(parsed(message).text, str)
