"""Which stored document another one repeats, as far as whoever brings it may know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightrag.access import AccessPolicy
from lightrag.contracts.doc_status import BaseDocStatusStorage, DocProcessingStatus

LIMITS = "limited_to"
"""Key of a text's row that keeps the limits of whoever brought it, until its file is parsed."""


def limits_row(access: AccessPolicy | None) -> dict[str, Any]:
    """Return the fields of a text's row that keep the limits of whoever brought it."""
    if access is None:
        return {}
    limits = {"required_tags": list(access.required_tags), "forbidden_tags": list(access.forbidden_tags)}
    return {LIMITS: limits}


def limits_of(full_doc: Mapping[str, Any]) -> AccessPolicy | None:
    """Return the limits that a text's row keeps, ``None`` for none."""
    limits = full_doc.get(LIMITS)
    if not limits:
        return None
    return AccessPolicy(tuple(limits["required_tags"]), tuple(limits["forbidden_tags"]))


async def same_content(
    doc_status: BaseDocStatusStorage,
    content_hash: str,
    access: AccessPolicy | None,
    *,
    exclude_doc_id: str | None = None,
) -> tuple[str, DocProcessingStatus] | None:
    """Return a stored document of the same text, ``None`` when there is none.

    One that does not exist for the caller is none: it would be told by the refusal, and two tenants may each have a
    copy of the same law. What is read depends on how many documents have that text, and not on how many there are, so
    that nobody can tell from the time it takes whether a hidden one has it.

    Args:
        doc_status: Where to look.
        content_hash: Of the text.
        access: Limits of the caller; ``None`` for none.
        exclude_doc_id: The document itself.
    """
    if access is None:
        return await doc_status.get_doc_by_content_hash(content_hash, exclude_doc_id=exclude_doc_id)
    rows = await doc_status.get_docs_by_content_hash(content_hash)
    for doc_id, row in rows.items():
        if doc_id != exclude_doc_id and access.allows(row.metadata, doc_id):
            return doc_id, row
    return None
