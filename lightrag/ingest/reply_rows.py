"""Reading extraction replies that are rows of delimited fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from lightrag.ingest.reply_fields import (
    ExtractionReply,
    ends_like_a_sentence,
    is_number,
    is_sentence,
)
from lightrag.llm.replies import snippet

_ENTITY_WORDS = ("entities", "entity", "node", "实体", "實體")
_RELATION_WORDS = ("relationships", "relationship", "relations", "relation", "edge", "关系", "關係", "関係")
_KIND = rf"(?P<kind>{'|'.join((*_ENTITY_WORDS, *_RELATION_WORDS))})"
_AROUND = r"[\"'“”`*\[\]]{0,3}"

# What models make of ``<|#|>``: a sign lost or doubled, escaped, spaced out, or in full width.
_VARIANT = (
    r"[<＜]{1,2}\s?\\?[|｜]{1,2}\s?\\?[#＃*]{0,2}\s?\\?[|｜]{0,2}\s?[>＞]{1,2}"
    r"|[<＜]\s?[#＃]{1,2}\s?[|｜]?\s?[>＞]"
    r"|[<＜]\s?[|｜]\s?[#＃]\s?[|｜]"
    r"|[|｜]\s?[#＃]\s?[|｜]\s?[>＞]?"
)
_HTML_ESCAPED_VARIANT = re.compile(r"&lt;(\\?[|#][^&\n]{0,4})&gt;", re.IGNORECASE)
_BARE_MARKER = r"[<＜][|｜]?\s?COMPLETED?\s?[|｜]?[>＞]?|[|｜]\s?COMPLETED?\s?[|｜][>＞]?|^\s*COMPLETED?"
# White space is bounded everywhere, or a long run of it would cost its square.
_SPACE = r"\s{0,8}"
_LIST_SIGN = r"[ \t]{0,40}(?:(?:[-•+>|]{1,4}|\*(?!\*)|#{1,4}|\d{1,4}[.)、])[ \t]{0,8})?"
_BARE_FIELDS = re.compile(r"[|\t]")
_GLUED_KIND = re.compile(rf"[\s,;#(]*(?<!\w){_AROUND}{_KIND}{_AROUND}\s*$", re.IGNORECASE)
_KIND_TAIL = 40
_NEW_BLOCK = re.compile(r"\s*(?:```|#{1,6}\s|[-*•+]\s|\d{1,4}[.)]\s|---)")
_ROW_TAIL = " \t\n,;|#"
# A description that goes on over more lines than this is no description.
_MAX_LINES = 40


@dataclass(frozen=True, slots=True)
class RowFormat:
    """The patterns that find the delimiters that were asked for, and what models make of them."""

    exact: re.Pattern[str]
    variant: re.Pattern[str]
    marker: re.Pattern[str]
    start: re.Pattern[str]
    row_like: re.Pattern[str]

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, tuple_delimiter: str, completion_delimiter: str) -> RowFormat:
        """Build the patterns for two delimiters."""
        exact = re.escape(tuple_delimiter)
        variant = rf"(?:{exact}|{_VARIANT})"
        return cls(
            exact=re.compile(exact),
            variant=re.compile(variant),
            marker=re.compile(rf"(?:{re.escape(completion_delimiter)}|{_BARE_MARKER})[\s)\]`.#*\"']*$", re.IGNORECASE),
            start=re.compile(
                rf"{_LIST_SIGN}(?P<open>\(?){_SPACE}{_AROUND}{_KIND}{_AROUND}{_SPACE}(?={variant}|[|\t])", re.IGNORECASE
            ),
            row_like=re.compile(rf"\W{{0,8}}\w+\W{{0,3}}?{_SPACE}{variant}.*{variant}"),
        )


@dataclass(slots=True)
class _Row:
    """One record as it stands in the reply; ``text`` begins behind its kind."""

    is_entity: bool
    in_parentheses: bool
    pieces: list[str]
    delimiters: int
    closed: bool = False

    @property
    def expected(self) -> int:
        """Fields of a whole record behind the kind; as many delimiters stand before them."""
        return 3 if self.is_entity else 4

    @property
    def text(self) -> str:
        return " ".join(self.pieces)

    def takes(self, line: str, form: RowFormat) -> bool:
        """Tell whether a line goes on with this record, broken in two or in mid-sentence."""
        if self.closed or len(self.pieces) >= _MAX_LINES or form.row_like.match(line):
            return False
        if self.delimiters < self.expected:
            return True
        return not ends_like_a_sentence(self.pieces[-1]) and not _NEW_BLOCK.match(line)


@dataclass(slots=True)
class _Scan:
    """The records of a reply, and how it ends."""

    rows: list[_Row] = field(default_factory=list)
    marker_seen: bool = False
    finished: bool = False
    ends_open: bool = False


def has_rows(text: str, form: RowFormat) -> bool:
    """Tell whether a line of the text begins like a record."""
    return any(form.start.match(line) for line in text.split("\n"))


def read_rows(text: str, form: RowFormat, reply: ExtractionReply) -> None:
    r"""Add the records of a text to a reply, and tell whether it is complete, usable and cut off.

    Args:
        text: Reply without reasoning and code fences, lines ended by ``\n``.
        form: What to look for.
        reply: Filled in place.
    """
    scan = _scan(_HTML_ESCAPED_VARIANT.sub(r"<\1>", text), form, reply)
    before = len(reply.entities) + len(reply.relations)
    for number, row in enumerate(scan.rows, 1):
        last = number == len(scan.rows) and not scan.finished
        _read_row(row, form, reply, where=f"row {number}", open_end=last, ends_open=scan.ends_open)
    reply.usable = len(reply.entities) + len(reply.relations) > before or (scan.marker_seen and not scan.rows)
    reply.complete = scan.marker_seen and not reply.cut_off


def _scan(text: str, form: RowFormat, reply: ExtractionReply) -> _Scan:
    """Find the records; a line that looks like a record of an unknown kind is reported."""
    scan = _Scan(ends_open=not text.endswith("\n"))
    for full_line in text.split("\n"):
        marker = form.marker.search(full_line)
        line = full_line[: marker.start()] if marker else full_line
        start = form.start.match(line)
        current = scan.rows[-1] if scan.rows else None
        if start:
            rest = line[start.end() :]
            is_entity = start["kind"].lower() in _ENTITY_WORDS
            scan.rows.append(_Row(is_entity, bool(start["open"]), [rest], len(form.variant.findall(rest))))
            scan.finished = False
        elif not line.strip():
            if current:
                current.closed = True
        elif current and current.takes(line, form):
            current.pieces.append(line.strip())
            current.delimiters += len(form.variant.findall(line))
        else:
            if current:
                current.closed = True
            if form.row_like.match(line):
                reply.warnings.append(f"record of unknown kind dropped: {snippet(line)!r}")
        if marker:
            scan.marker_seen = scan.finished = True
            if scan.rows:
                scan.rows[-1].closed = True
    return scan


def _read_row(
    row: _Row, form: RowFormat, reply: ExtractionReply, *, where: str, open_end: bool, ends_open: bool
) -> None:
    """Read one record, or the several that stand joined in it."""
    text = _without_tail(row.text)
    fields = _fields(text, row.expected, form, reply, where)
    records = list(_records(fields, is_entity=row.is_entity))
    for position, (record, is_entity) in enumerate(records):
        if row.in_parentheses and record and record[-1].count(")") > record[-1].count("("):
            record[-1] = record[-1].rstrip().removesuffix(")")
        if open_end and position == len(records) - 1 and _is_partial(record, is_entity, ends_open):
            reply.cut_off = True
            reply.warnings.append(f"{where}: last record is cut off, dropped: {snippet(text)!r}")
        elif is_entity:
            _read_entity(record, reply, where)
        else:
            _read_relation(record, reply, where)


def _without_tail(text: str) -> str:
    """Return a record without the signs that some models put between records."""
    bare = text.rstrip(_ROW_TAIL)
    # A single sign can belong to the text (``C#``); two of ``##`` cannot.
    return bare if text[len(bare) :].count("#") != 1 else text.rstrip()


def _fields(text: str, expected: int, form: RowFormat, reply: ExtractionReply, where: str) -> list[str]:
    """Split a record behind its kind.

    By the right delimiter if that gives enough fields, else by what looks like it: in this order, because
    ``a <|> b`` is a delimiter in one reply and a piece of a program in another.
    """
    exact = form.exact.split(text)[1:]
    if len(exact) >= expected:
        return exact
    variant = form.variant.split(text)[1:]
    bare = [] if variant else _BARE_FIELDS.split(text.strip().strip("|"))
    for fields in (variant, bare if len(bare) == expected else []):
        if len(fields) >= expected:
            reply.warnings.append(f"{where}: field delimiter repaired: {snippet(text)!r}")
            return fields
    return variant


def _records(fields: list[str], *, is_entity: bool) -> Iterator[tuple[list[str], bool]]:
    """Take apart records joined on one line: a last field that ends with a kind, before further fields.

    Only from the last field on, for ``Entity`` is a fine name for an entity.
    """
    while True:
        expected = 3 if is_entity else 4
        for position in range(expected - 1, len(fields) - 2):
            tail = fields[position][-_KIND_TAIL:]
            glued = _GLUED_KIND.search(tail)
            if glued:
                head = fields[position][: len(fields[position]) - len(tail) + glued.start()]
                yield [*fields[:position], head], is_entity
                fields, is_entity = fields[position + 1 :], glued["kind"].lower() in _ENTITY_WORDS
                break
        else:
            yield fields, is_entity
            return


def _is_partial(record: list[str], is_entity: bool, ends_open: bool) -> bool:
    """Tell whether the last record of a reply without completion marker breaks off."""
    if len(record) < (3 if is_entity else 4):
        return True
    return ends_open and not ends_like_a_sentence(record[-1]) and not is_number(record[-1])


def _read_entity(record: list[str], reply: ExtractionReply, where: str) -> None:
    name = record[0] if record else ""
    if len(record) < 2:
        reply.warnings.append(f"{where}: entity with nothing but a name dropped: {snippet(name)!r}")
        return
    if len(record) == 2:
        reply.warnings.append(f"{where}: entity with 3 fields instead of 4: {snippet(name)!r}")
        kind, description = ("", record[1]) if is_sentence(record[1]) else (record[1], "")
    else:
        kind, description = record[1], " ".join(record[2:])
        if len(record) > 3:
            reply.warnings.append(f"{where}: surplus fields joined to the description of {snippet(name)!r}")
    reply.add_entity(name, kind, description, where=where)


def _read_relation(record: list[str], reply: ExtractionReply, where: str) -> None:
    if len(record) < 3:
        ends = " - ".join(record)
        reply.warnings.append(f"{where}: relation with nothing but its ends dropped: {snippet(ends)!r}")
        return
    weight = ""
    if len(record) > 3 and is_number(record[-1]):
        weight = record[-1]
        record = record[:-1]
    if len(record) == 3:
        if not weight:
            reply.warnings.append(f"{where}: relation with 4 fields instead of 5: {snippet(record[0])!r}")
        keywords, description = ("", record[2]) if is_sentence(record[2]) else (record[2], "")
    else:
        keywords, description = record[2], " ".join(record[3:])
        if len(record) > 4:
            reply.warnings.append(f"{where}: surplus fields joined to the description of a relation")
    if ends_like_a_sentence(keywords) and description and not is_sentence(description):
        keywords, description = description, keywords
    reply.add_relation((record[0], record[1]), keywords, description, weight, where=where)
