"""Tags: one normal form for uploads and queries, so that filters compare elements for equality."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from lightrag.constants import MAX_DOCUMENT_TAG_CHARS, MAX_DOCUMENT_TAGS
from lightrag.exceptions import FilterSyntaxError

_DISALLOWED = re.compile(r"[^a-z0-9:_-]+")
_UNDERSCORES = re.compile(r"_+")


def normalize_tag(tag: str) -> str:
    """Return the normal form of one tag, ``""`` when nothing of it is left.

    Strip, NFKC, casefold, drop combining marks, turn every other character outside ``[a-z0-9:_-]`` into
    ``_``, collapse runs of ``_``, strip them at the ends: ``Årsrapport`` gives ``arsrapport``,
    ``channel/ENG`` gives ``channel_eng``. The form is its own normal form.
    """
    folded = unicodedata.normalize("NFKC", tag.strip()).casefold()
    decomposed = unicodedata.normalize("NFKD", folded)
    bare = "".join(character for character in decomposed if not unicodedata.category(character).startswith("M"))
    return _UNDERSCORES.sub("_", _DISALLOWED.sub("_", bare)).strip("_")


def is_lossless(tag: str) -> bool:
    """Tell whether normalising changes nothing but ASCII case and outer blanks.

    Any other change can turn two tags into one, which for a tag that separates tenants is a leak.
    """
    stripped = tag.strip()
    return stripped.isascii() and stripped.lower() == normalize_tag(tag)


def normalize_tags(tags: Iterable[str], *, max_tags: int = MAX_DOCUMENT_TAGS) -> list[str]:
    """Return the normal forms of tags, each once, in order of first appearance.

    Args:
        tags: A list of tags as typed; blank ones are skipped.
        max_tags: How many may be left, ``MAX_DOCUMENT_TAGS`` of a document or ``MAX_QUERY_FILTER_TAGS`` of a
            query.

    Raises:
        FilterSyntaxError: Not a list of texts, a tag of which nothing is left or that is too long, or too
            many tags.
            Limits are errors, never silent truncation.
    """
    if isinstance(tags, str | bytes) or not isinstance(tags, Iterable):
        raise FilterSyntaxError(f"tags are a list of texts, not {tags!r}")
    distinct: dict[str, None] = {}
    for tag in tags:
        if not isinstance(tag, str):
            raise FilterSyntaxError(f"a tag is a text, not {tag!r}")
        if not tag.strip():
            continue
        normal = normalize_tag(tag)
        if not normal:
            raise FilterSyntaxError(
                f"tag {tag!r} holds none of the characters a-z, 0-9, ':', '-' that tags are made of"
            )
        if len(normal) > MAX_DOCUMENT_TAG_CHARS:
            shown = normal[:40] + "…"
            raise FilterSyntaxError(f"tag {shown!r} has {len(normal)} characters; allowed are {MAX_DOCUMENT_TAG_CHARS}")
        distinct[normal] = None
        if len(distinct) > max_tags:
            raise FilterSyntaxError(f"too many tags; allowed are {max_tags}")
    return list(distinct)
