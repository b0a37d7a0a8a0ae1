"""Dates and tags of the documents that a context refers to, for a model that shall weigh them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.query_filters import public_metadata
from lightrag.runtime.tokens import count_tokens

if TYPE_CHECKING:
    from lightrag.contracts.doc_status import BaseDocStatusStorage
    from lightrag.contracts.models import Tokenizer
    from lightrag.query.retrieve_chunks import FoundChunk

# Stands above the reference list when it carries dates and tags.
DOCUMENT_NOTES_EXPLANATION = """\
Behind a file stand the dates and tags of its document where they are known. `from` is the day from which what the
document says holds (a law in force, a patent filed, an issue published), `to` the last day; a missing `to` means that
no end is known, `undated` that neither is. `tags` are the categories that its archive gave it. Use them to judge which
document speaks about the time that is asked for.
"""


async def document_notes(doc_status: BaseDocStatusStorage, chunks: Sequence[FoundChunk]) -> dict[str, dict[str, Any]]:
    """Return ``start_date``, ``end_date`` and ``tags`` of the documents of chunks, by source path.

    Args:
        doc_status: Status rows of the documents.
        chunks: Candidates, best first. Of several documents under one path the first one is told.
    """
    documents: dict[str, str] = {}
    for chunk in chunks:
        if chunk.document_id:
            documents.setdefault(chunk.file_path, chunk.document_id)
    rows = await doc_status.get_by_ids(list(documents.values()))
    notes: dict[str, dict[str, Any]] = {}
    for file_path, row in zip(documents, rows, strict=True):
        known = public_metadata((row or {}).get("metadata"))
        notes[file_path] = {name: known[name] for name in ("start_date", "end_date", "tags")}
    return notes


def notes_tokens(notes: Mapping[str, Mapping[str, Any]], tokenizer: Tokenizer) -> int:
    """Return the tokens that the notes of all candidates take, their explanation included."""
    text = "\n".join([DOCUMENT_NOTES_EXPLANATION, *map(note_text, notes.values())]) if notes else ""
    return count_tokens(tokenizer, text)


def note_text(note: Mapping[str, Any]) -> str:
    """Return a document's dates and tags as they stand behind its file in the reference list."""
    parts = []
    if note.get("start_date"):
        parts.append(f"from {note['start_date']}")
    if note.get("end_date"):
        parts.append(f"to {note['end_date']}")
    if not parts:
        parts.append("undated")
    if note.get("tags"):
        parts.append(f"tags: {', '.join(note['tags'])}")
    return f"({'; '.join(parts)})"
