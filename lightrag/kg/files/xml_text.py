"""Which texts GraphML can hold."""

from __future__ import annotations

import re

# What XML 1.0 has no character for, and the carriage return, which parsers turn into a line feed.
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
# In an attribute, where node ids stand, some writers and parsers turn every white space into a blank.
_NO_ID = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")


def can_be_id(text: str) -> bool:
    """Tell whether a text comes back unchanged as the id of a node."""
    return bool(text) and not _NO_ID.search(text)


def can_be_name(text: str) -> bool:
    """Tell whether a text can be the name of an attribute."""
    return bool(_PLAIN_NAME.match(text))


def as_text(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NO_TEXT.sub("", text)
