"""Step ``parse``: from the stored row or file to sanitised text."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocStatus
from lightrag.exceptions import DuplicateError, InputError, NotFoundError
from lightrag.ingest.duplicates import limits_of, same_content
from lightrag.ingest.options import ProcessOptions
from lightrag.ingest.persist import set_status
from lightrag.ingest.work import DocumentWork
from lightrag.parser.result import BUILT_IN
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.text import content_summary, sanitize_text


async def parse_document(context: EngineContext, work: DocumentWork) -> None:
    """Load the text of a document; a file is read and parsed first, and its text is kept.

    Raises:
        NotFoundError: Its stored text is gone.
        InputError: Its file cannot be read or parsed; the message says why.
        DuplicateError: The parsed text is already stored under another document.
    """
    full_doc = await context.stores.full_docs.get_by_id(work.doc_id)
    if full_doc is None:
        raise NotFoundError(f"the text of document {work.doc_id!r} is not stored any more; add the document again")
    work.full_doc = full_doc
    options = ProcessOptions.from_row(full_doc)
    if options.vision:
        work.notes["parse_warnings"] = [
            f"the options {options.vision!r} ask for a vision model, which this engine has not: pictures, tables and "
            "equations are not described"
        ]
    if full_doc.get("parse_format") != "pending_parse":
        work.text = str(full_doc.get("content") or "")
        work.notes |= {"parse_stage_skipped": True, "parse_format": "raw", "analyzing_stage_skipped": True}
        await set_status(context, work, DocStatus.PROCESSING)
        return
    await _parse_file(context, work, options)


async def _parse_file(context: EngineContext, work: DocumentWork, options: ProcessOptions) -> None:
    work.notes["parse_start_time"] = int(time.time())
    await set_status(context, work, DocStatus.PARSING)
    source = Path(str(work.full_doc.get("source_file") or ""))
    if not await asyncio.to_thread(source.is_file):
        raise InputError(f"file {str(source)!r} is not there any more; add it again")
    parsed = await context.parsers.parse(work.row.file_path, source, options.engine or BUILT_IN)
    work.text = sanitize_text(parsed.text)
    work.notes |= {
        "parse_end_time": int(time.time()),
        "parse_format": "raw",
        "parse_engine": parsed.engine,
        "analyzing_stage_skipped": True,
    }
    if parsed.warnings:
        work.notes["parse_warnings"] = [*work.notes.get("parse_warnings", ()), *parsed.warnings]
    content_hash = compute_mdhash_id(work.text)
    if work.text:
        access = limits_of(work.full_doc)
        found = await same_content(context.stores.doc_status, content_hash, access, exclude_doc_id=work.doc_id)
        if found is not None:
            await _refuse_duplicate(context, work, found[0], found[1].track_id or "")
            raise DuplicateError(f"the same content is already stored as {found[0]!r} (status {found[1].status.value})")
    row = {**work.full_doc, "content": work.text, "parse_format": "raw", "content_hash": content_hash}
    told = {
        "content_summary": content_summary(work.text),
        "content_length": len(work.text),
        "content_hash": content_hash,
    }
    async with context.stores.unit_of_work() as unit:
        await context.stores.full_docs.upsert({work.doc_id: row})
        unit.last(partial(set_status, context, work, DocStatus.PROCESSING, **told))


async def _refuse_duplicate(context: EngineContext, work: DocumentWork, original_id: str, track_id: str) -> None:
    """Note on the row what it repeats; without a stored text it is never retried."""
    work.notes |= {
        "is_duplicate": True,
        "duplicate_kind": "content_hash",
        "original_doc_id": original_id,
        "original_track_id": track_id,
    }
    work.row.content_summary = f"[DUPLICATE:content_hash] Original document: {original_id}"
    await context.stores.full_docs.delete([work.doc_id])
