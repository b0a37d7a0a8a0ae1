"""Encodings of text: marks, declarations, and guesses that say that they are guesses."""

from __future__ import annotations

import codecs
import unicodedata
from dataclasses import dataclass

from lightrag.exceptions import InputError, MissingDependencyError

# UTF-32 LE begins with the mark of UTF-16 LE, so it stands first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Each is the widest of its family: GB18030 holds GB2312 and GBK, CP932 Shift-JIS, CP949 EUC-KR, and the Windows code
# pages hold the ISO ones where these have no control characters. Those of old Macs and mainframes, which detectors like
# to see in short texts, are not among them.
_CANDIDATES = (
    *("gb18030", "big5hkscs", "cp932", "euc_jis_2004", "cp949"),
    *("cp1252", "cp1250", "iso8859-2", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
)
_WESTERN = "windows-1252"
# French and Spanish score as well for the Central European and Baltic code pages as for their own, while text that is
# really in one of those scores less than half as much for the Western one.
_LOOKALIKES = frozenset({"windows-1250", "windows-1253", "windows-1256", "windows-1257"})
_LOOKALIKE_SHARE = 0.7
# Text may hold a stray NUL or escape sequence; a tenth of them is no text.
_MAX_CONTROL_SHARE = 0.1
# Bytes in the wrong encoding give characters that nobody writes; text in the right one has almost none.
_MAX_STRANGE_SHARE = 0.02
# Web pages and letters say the name on the left and mean the larger set that programs write.
_MEANT = {
    **dict.fromkeys(("iso-8859-1", "latin-1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
}
# Encodings that write all letters with the bytes of ASCII, so that they look like UTF-8.
_SEVEN_BIT = ("iso-2022", "hz", "utf-7")
_LAYOUT = frozenset("\t\n\r\f\v\b\x1a\x1b")
# Spaces and line ends alone give so many code units of UTF-16 a byte that is zero, Latin text nearly all of them; bytes
# that are UTF-8 as well, as those of text with a stray NUL, must be Latin.
_MIN_NUL_SHARE = 0.05
_MIN_LATIN_NUL_SHARE = 0.4
_SAMPLE_BYTES = 200_000
# Text in another encoding hardly ever has letters that are whole in UTF-8.
_WHOLE_PER_BROKEN = 10
_BYTES_PER_BROKEN = 50
_REPLACEMENT = "\ufffd".encode()


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text.

    Attributes:
        text: Without byte order mark; line ends as they are.
        encoding: Python's name of the encoding.
        guessed: Whether the bytes themselves had to tell it.
        replaced: Broken characters, each of which became U+FFFD.
    """

    text: str
    encoding: str
    guessed: bool = False
    replaced: int = 0


def decode(data: bytes, source: str, declared: str | None = None) -> Decoded:
    """Decode text.

    A byte order mark decides; then UTF-8 if the bytes are; then the declared encoding; then what the bytes look like.

    Args:
        data: Bytes of a text.
        source: Names the file in messages.
        declared: Encoding that the file, or the message it came in, claims. It may be wrong or unknown.

    Raises:
        InputError: The bytes are no text, or in an encoding that cannot be told.
        MissingDependencyError: They are neither Unicode nor declared, and the package that guesses is not installed.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return Decoded(_strictly(data[len(mark) :], name, source), name)
    wide = _wide_encoding(data)
    if wide is not None:
        return Decoded(data.decode(wide), wide, guessed=True)
    if data.count(0) > len(data) * _MAX_CONTROL_SHARE:
        raise _no_text(source)
    if declared and declared.lower().startswith(_SEVEN_BIT) and (seven_bit := _as_declared(data, declared)) is not None:
        return seven_bit
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        refusal = error
    else:
        if _control_share(text) > _MAX_CONTROL_SHARE:
            raise _no_text(source)
        return Decoded(text, "utf-8")
    return _as_declared(data, declared) or _damaged_utf8(data, declared) or _guess(data, source, refusal)


def _strictly(body: bytes, encoding: str, source: str) -> str:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source!r} has the byte order mark of {encoding.upper()}, but is not: byte {body[error.start]:#04x} at "
            f"position {error.start} ({error.reason})"
        ) from error


def _no_text(source: str) -> InputError:
    return InputError(f"{source!r} is not text: its bytes are those of a binary file")


def _wide_encoding(data: bytes) -> str | None:
    """Return the UTF-16 that bytes without a mark are in; ``None`` if they are not or it cannot be told."""
    if len(data) % 2 or len(data) < 4:
        return None
    sample = data[:_SAMPLE_BYTES]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    units = len(sample) // 2
    least = _MIN_LATIN_NUL_SHARE if _is_utf8(sample) else _MIN_NUL_SHARE
    if max(even, odd) < units * least or min(even, odd) * 10 > max(even, odd):
        return None
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return encoding if _strange_share(text) <= _MAX_STRANGE_SHARE else None


def _damaged_utf8(data: bytes, declared: str | None) -> Decoded | None:
    """Return UTF-8 with a few broken characters; ``None`` if it is another encoding.

    A guess would read the whole text wrongly for the sake of one byte.
    """
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd") - data.count(_REPLACEMENT)
    whole = sum(count for character, count in _counts(text).items() if character > "\x7f") - broken
    is_claimed = (declared or "").lower().replace("_", "-") in ("utf-8", "utf8")
    if whole >= broken * _WHOLE_PER_BROKEN or (is_claimed and broken * _BYTES_PER_BROKEN <= len(data)):
        return Decoded(text, "utf-8", replaced=broken)
    return None


def _is_utf8(sample: bytes) -> bool:
    """Tell whether bytes are UTF-8; the last character of a sample may be incomplete."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _as_declared(data: bytes, declared: str | None) -> Decoded | None:
    if not declared:
        return None
    name = _MEANT.get(declared.lower(), declared)
    try:
        return Decoded(data.decode(name), name)
    except (LookupError, UnicodeDecodeError):
        return None


def _guess(data: bytes, source: str, refusal: UnicodeDecodeError) -> Decoded:
    try:
        from chardet import detect_all
    except ImportError as error:
        raise MissingDependencyError(
            "chardet", "documents", f"{source!r} is not UTF-8 (byte {data[refusal.start]:#04x}), and to read it"
        ) from error
    found = detect_all(data[:_SAMPLE_BYTES], ignore_threshold=True, include_encodings=_CANDIDATES, prefer_superset=True)
    ranked = [(str(row["encoding"]).lower(), float(row["confidence"] or 0)) for row in found if row["encoding"]]
    scores = dict(ranked)
    names = [name for name, _ in ranked]
    if ranked and names[0] in _LOOKALIKES and scores.get(_WESTERN, 0) >= ranked[0][1] * _LOOKALIKE_SHARE:
        names.insert(0, _WESTERN)
    for name in names:
        try:
            text = data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
        if _strange_share(text) <= _MAX_STRANGE_SHARE:
            return Decoded(text, name, guessed=True)
    raise InputError(
        f"{source!r} is not UTF-8 (byte {data[refusal.start]:#04x} at position {refusal.start}), and its bytes are no "
        "text in any other known encoding; save it as UTF-8"
    )


def _control_share(text: str) -> float:
    controls = sum(count for code, count in _counts(text).items() if code < " " and code not in _LAYOUT)
    return controls / max(1, len(text))


def _strange_share(text: str) -> float:
    """Return the share of characters that are controls, unassigned or private."""
    strange = sum(
        count
        for character, count in _counts(text).items()
        if character not in _LAYOUT and unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs")
    )
    return strange / max(1, len(text))


def _counts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for character in text[:_SAMPLE_BYTES]:
        counts[character] = counts.get(character, 0) + 1
    return counts
