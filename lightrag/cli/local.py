"""A corpus in a folder: the engine in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from lightrag.cli.corpus import Corpus, Fields, Page, Row, Stored, Told, View, stored_before
from lightrag.cli.source_files import SourceFile
from lightrag.contracts.doc_status import INTERRUPTED_STATES, DocProcessingStatus, DocStatus
from lightrag.contracts.query import QueryParam
from lightrag.exceptions import LightRAGError, ModelError, QueryValidationError
from lightrag.ingest.documents import new_track_id
from lightrag.ingest.pipeline import pending_again
from lightrag.query.plan import effective_filter
from lightrag.query_filters import public_metadata

if TYPE_CHECKING:
    from lightrag.lightrag import LightRAG

_POLL_SECONDS = 0.1


def document_row(doc_id: str, row: DocProcessingStatus) -> Row:
    """Return a document in the form of the HTTP interface."""
    return {
        "id": doc_id,
        "content_summary": row.content_summary,
        "content_length": row.content_length,
        "status": row.status.value,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "track_id": row.track_id,
        "chunks_count": row.chunks_count,
        "error_msg": row.error_msg,
        "metadata": row.metadata,
        "file_path": row.file_path,
        **public_metadata(row.metadata),
    }


class LocalCorpus(Corpus):
    """A corpus in a folder."""

    def __init__(self, engine: LightRAG) -> None:
        """Take the engine.

        Args:
            engine: Opened.
        """
        self.engine = engine
        self._track_id = new_track_id("cli")

    # --- documents ---------------------------------------------------------------------------------------------------

    async def extensions(self) -> list[str]:
        """Return the suffixes of files that can be read."""
        return self.engine.context.parsers.supported_extensions()

    async def store(self, file: SourceFile) -> Stored:
        """Store a file as pending, under the name that it has without a parser hint."""
        name = self.engine.context.parsers.route(file.source_path).name
        metadata = {**file.metadata}
        if metadata.get("source_path") == file.source_path:
            metadata["source_path"] = name
        given, file = file.source_path, replace(file, source_path=name, metadata=metadata)
        found = await self.engine.doc_status.get_doc_by_file_path(file.source_path)
        if found is not None:
            return stored_before(file, document_row(*found))
        admitted = await self.engine.apipeline_enqueue_documents(
            [str(file.path)],
            file_paths=[given],
            track_id=self._track_id,
            docs_format="pending_parse",
            document_metadata=file.metadata,
        )
        if admitted is None:
            return Stored(file, "refused", "another document has the same id")
        return Stored(file, "stored", track_id=self._track_id)

    async def process(self, stored: Sequence[Stored], told: Told) -> dict[str, Row]:
        """Process everything that waits."""
        await self._run(self.engine.apipeline_process_enqueue_documents(), told)
        rows = await self.engine.aget_docs_by_track_id(self._track_id)
        rows |= await self.engine.aget_docs_by_ids([one.doc_id for one in stored if one.doc_id])
        by_path = {row.file_path: document_row(doc_id, row) for doc_id, row in rows.items()}
        wanted = (one.file.source_path for one in stored)
        return {path: by_path[path] for path in wanted if path in by_path}

    async def retry(self, told: Told, doc_ids: Sequence[str] = ()) -> list[Row]:
        """Try failed documents once more, and finish what waits."""
        engine = self.engine
        before = await engine.doc_status.get_docs_by_statuses([state for state in DocStatus if state != "processed"])
        for doc_id in doc_ids:
            await engine.aretry_document(doc_id)
        again = engine.apipeline_process_enqueue_documents() if doc_ids else engine.aretry_failed_documents()
        await self._run(again, told)
        after = await self.engine.aget_docs_by_ids(list(before))
        return [
            document_row(doc_id, row)
            for doc_id, row in after.items()
            if (row.status, row.updated_at) != (before[doc_id].status, before[doc_id].updated_at)
        ]

    async def _run(self, work: Any, told: Told) -> None:
        running = asyncio.ensure_future(work)
        try:
            while not running.done():
                status = self.engine.pipeline_status()
                told(status["cur_batch"], status["docs"], status["latest_message"])
                await asyncio.wait({running}, timeout=_POLL_SECONDS)
            await running
        finally:
            if not running.done():
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                await self._put_back()
        status = self.engine.pipeline_status()
        told(status["cur_batch"], status["docs"], "")

    async def _put_back(self) -> None:
        """Let documents wait again that were in the middle when the work was broken off."""
        # A write that was on its way cannot be called back. Waiting for one of our own waits for it as well; this one
        # does no harm, for the corpus has most likely changed.
        await self.engine.context.stores.mark_corpus_changed()
        rows = await self.engine.doc_status.get_docs_by_statuses(INTERRUPTED_STATES)
        if rows:
            await self.engine.doc_status.upsert({doc_id: pending_again(row).to_row() for doc_id, row in rows.items()})

    async def documents(self, fields: Fields, page: Page) -> Row:
        """Return a page of documents."""
        status = self.engine.doc_status
        rows, total = await status.get_docs_paginated(
            status_filters=[DocStatus(state) for state in page.statuses] or None,
            page=page.number,
            page_size=page.size,
            sort_field=page.sort,
            sort_direction=page.direction,
            metadata_filter=effective_filter(self.engine.context.settings, QueryParam(**fields)),
        )
        pages = -(-total // page.size)
        return {
            "documents": [document_row(doc_id, row) for doc_id, row in rows],
            "pagination": {
                "page": page.number,
                "page_size": page.size,
                "total_count": total,
                "total_pages": pages,
                "has_next": page.number < pages,
                "has_prev": page.number > 1,
            },
            "status_counts": await status.get_all_status_counts(),
        }

    async def document(self, name: str) -> Row | None:
        """Return a document by id or source path."""
        found = await self.engine.aget_docs_by_ids(name)
        if name in found:
            return document_row(name, found[name])
        by_path = await self.engine.doc_status.get_doc_by_file_path(name)
        return None if by_path is None else document_row(*by_path)

    async def set_metadata(self, doc_id: str, patch: Fields) -> Row:
        """Replace fields of a document's metadata."""
        return document_row(doc_id, await self.engine.aupdate_document_metadata(doc_id, patch))

    async def delete(self, doc_ids: Sequence[str], *, with_replies: bool) -> dict[str, str]:
        """Delete documents one after another."""
        failures = {}
        for doc_id in doc_ids:
            outcome = await self.engine.adelete_by_doc_id(doc_id, delete_llm_cache=with_replies)
            if outcome.status != "success":
                failures[doc_id] = outcome.message
        return failures

    # --- questions ---------------------------------------------------------------------------------------------------

    async def answer(self, question: Fields) -> Row:
        """Return a whole answer."""
        begin = time.perf_counter()
        result = await self._ask(question, stream=False)
        reply = result["llm_response"]
        return {
            "response": reply["content"] or "",
            "references": _references(result),
            "response_time": round(time.perf_counter() - begin, 3),
            "llm_generated": reply["llm_generated"],
            **({"cut_off": True} if reply.get("cut_off") else {}),
        }

    async def answer_lines(self, question: Fields) -> AsyncIterator[Row]:
        """Yield an answer as it comes."""
        result = await self._ask(question, stream=True)
        reply = result["llm_response"]
        yield {"references": _references(result)}
        if not reply["is_streaming"]:
            yield {"response": reply["content"] or ""}
            return
        stream = reply["response_iterator"]
        try:
            async for piece in stream:
                yield {"response": piece}
        except LightRAGError as error:
            yield {"error": str(error)}
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def _ask(self, question: Fields, *, stream: bool) -> dict[str, Any]:
        given = {name: value for name, value in question.items() if name != "query"}
        text = str(question["query"])
        if not text.strip():
            raise QueryValidationError("the question is blank")
        result = await self.engine.aquery_llm(text, QueryParam(**given, stream=stream, include_references=True))
        if result["metadata"].get("failure_reason") == "query_failed":
            raise ModelError(str(result["message"]))
        return result

    async def preview(self, fields: Fields) -> Row:
        """Return what a filter would match."""
        return asdict(await self.engine.afilter_preview(QueryParam(**fields)))

    async def facets(self, fields: Fields) -> Row:
        """Return what there is to filter by."""
        return asdict(await self.engine.afacets(QueryParam(**fields)))

    # --- graph -------------------------------------------------------------------------------------------------------

    async def graph(self, view: View) -> Row:
        """Return a part of the graph."""
        found = await self.engine.get_knowledge_graph(
            view.name, view.depth, view.nodes, required_tags=[view.scope] if view.scope else []
        )
        shown: Row = asdict(found)
        return shown

    async def similar_names(self, text: str, scope: str | None) -> list[str]:
        """Return names of entities that contain a text."""
        return await self.engine.search_labels(text, limit=5, tenant_tag=scope)

    async def scopes(self) -> dict[str, int | None]:
        """Return the scopes and the number of their entities."""
        return dict(await self.engine.alist_scopes())


def _references(result: Mapping[str, Any]) -> list[Row]:
    found = (result.get("data") or {}).get("references") or ()
    return [{**reference, "content": None} for reference in found]
