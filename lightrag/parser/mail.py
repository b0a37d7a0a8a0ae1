"""Letters: EML files with their attachments."""

from __future__ import annotations

from collections.abc import Callable
from email import policy
from email.message import EmailMessage, Message, MIMEPart
from email.parser import BytesParser

from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.parser.encodings import decode
from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.text import unify_line_ends
from lightrag.parser.web_page import html_to_markdown

_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
_TELLING_HEADERS = ("From", "To", "Subject", "Date", "Message-ID", "Received", "Return-Path", "MIME-Version")
_MAX_ATTACHMENTS = 100
_SUFFIXES = {"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "application/pdf": ".pdf"}

# Parses an attachment, as the registry parses a file.
AttachmentParser = Callable[[FileContent], ParsedText]


def parse_mail(content: FileContent, parse_attachment: AttachmentParser) -> ParsedText:
    """Parse a letter: subject, sender, receivers, date, text, and the text of attachments.

    An attachment that cannot be parsed is named in the warnings. One that is a letter itself is parsed, but not its
    attachments.

    Args:
        content: The letter.
        parse_attachment: Parses attachments.

    Raises:
        InputError: It has no header of a letter.
        MissingDependencyError: Its text is HTML, and the extra ``documents`` is not installed.
    """
    message = BytesParser(policy=policy.default).parsebytes(content.data)
    assert isinstance(message, EmailMessage)
    if not any(_header(message, name) for name in _TELLING_HEADERS):
        raise InputError(
            f"{content.source!r} is not a letter: it has none of the headers {', '.join(_TELLING_HEADERS)}"
        )
    parts = [_heading(message), _body(message, content.source)]
    warnings: list[str] = []
    attachments = list(message.iter_attachments()) if message.is_multipart() else []
    for part in attachments[:_MAX_ATTACHMENTS]:
        name, parsed = _attachment(part, content, parse_attachment)
        if parsed.text.strip():
            parts.append(f"## Attachment: {name}\n\n{parsed.text.strip()}")
        warnings.extend(f"attachment {name!r}: {warning}" for warning in parsed.warnings)
    if len(attachments) > _MAX_ATTACHMENTS:
        warnings.append(f"{len(attachments) - _MAX_ATTACHMENTS} attachments were left out")
    return ParsedText("\n\n".join(part for part in parts if part) + "\n", tuple(warnings))


def refuse_nested(content: FileContent) -> ParsedText:
    """Stand for an attachment of an attached letter, which is not parsed.

    Raises:
        InputError: Always.
    """
    raise InputError(f"{content.source!r} is attached to an attached letter and was not parsed")


def _header(message: EmailMessage, name: str) -> str:
    # Headers that break the rules make the standard library's parser of addresses raise odd errors.
    try:
        value = str(message.get(name, ""))
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(value.split())


def _heading(message: EmailMessage) -> str:
    subject = _header(message, "Subject")
    lines = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := _header(message, name))]
    return "\n\n".join(part for part in (f"# {subject}" if subject else "", "\n".join(lines)) if part)


def _body(message: EmailMessage, source: str) -> str:
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    text = _decoded(body, source)
    if body.get_content_subtype() == "html":
        return html_to_markdown(text, source).strip()
    if not text.strip() and (page := message.get_body(("html",))) is not None:
        return html_to_markdown(_decoded(page, source), source).strip()
    return text.strip()


def _decoded(part: MIMEPart, source: str) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    return unify_line_ends(decode(data, source, part.get_content_charset()).text)


def _attachment(part: EmailMessage, content: FileContent, parse_attachment: AttachmentParser) -> tuple[str, ParsedText]:
    """Return the name of an attachment and its text; what hinders it becomes a warning."""
    name = " ".join((part.get_filename() or "").split())
    if part.get_content_type() == "message/rfc822" and part.is_multipart():
        # An attached letter is a tree of parts again, not bytes.
        name = name or "letter"
        inner = part.get_payload(0)
        data = inner.as_bytes() if isinstance(inner, Message) else b""
        source = name if name.lower().endswith(".eml") else f"{name}.eml"
    else:
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        name = name or f"unnamed{_SUFFIXES.get(part.get_content_type(), '')}"
        source = name
    try:
        return name, parse_attachment(FileContent(source, data, content.passwords))
    except (InputError, MissingDependencyError) as error:
        return name, ParsedText("", (str(error),))
