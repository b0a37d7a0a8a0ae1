"""A corpus behind a server: its HTTP interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from lightrag.cli.connection import Requests
from lightrag.cli.corpus import FINISHED, WAITING, Corpus, Fields, Page, Row, Stored, Told, View, stored_before
from lightrag.cli.errors import ServerError
from lightrag.cli.source_files import SourceFile
from lightrag.exceptions import NotFoundError
from lightrag.ingest.documents import normalize_source_path
from lightrag.runtime.hashing import compute_mdhash_id

_POLL_SECONDS = 0.25
# Of many documents that wait the server takes the oldest first, so looking at the first ones tells enough.
_LOOKED_AT = 16
# How often nothing may be going on before what has not happened is not expected any more.
_IDLE_POLLS = 12
_MOST_ON_A_PAGE = 200
# What is the matter with one file, and no reason to stop.
_REFUSALS = (400, 409, 413, 415, 422)


class RemoteCorpus(Corpus):
    """A corpus behind a server."""

    def __init__(self, requests: Requests) -> None:
        """Take the connection.

        Args:
            requests: Open.
        """
        self._http = requests

    # --- documents ---------------------------------------------------------------------------------------------------

    async def extensions(self) -> list[str]:
        """Return the suffixes of files that can be read."""
        return list((await self._http.get("/documents/supported_file_types"))["supported_extensions"])

    async def store(self, file: SourceFile) -> Stored:
        """Upload a file."""
        found = await self.document(file.source_path)
        if found is not None:
            return stored_before(file, found)
        try:
            reply = await self._http.upload(file.path, file.source_path, json.dumps(file.metadata))
        except ServerError as error:
            if error.status not in _REFUSALS:
                raise
            return Stored(file, "refused", str(error))
        return Stored(file, "stored", track_id=reply["track_id"])

    async def process(self, stored: Sequence[Stored], told: Told) -> dict[str, Row]:
        """Wait until the server has processed the files."""
        waiting = list(stored)
        done: dict[str, Row] = {}
        while waiting:
            for one in waiting[:_LOOKED_AT]:
                row = await self._tracked(one)
                if row["status"] in FINISHED:
                    done[one.file.source_path] = row
            waiting = [one for one in waiting if one.file.source_path not in done]
            told(len(done), len(stored), waiting[0].file.source_path if waiting else "")
            if waiting:
                await asyncio.sleep(_POLL_SECONDS)
        return done

    async def _tracked(self, one: Stored) -> Row:
        if one.doc_id:
            row = await self.document(one.doc_id)
        else:
            rows = (await self._http.get(f"/documents/track_status/{one.track_id}"))["documents"]
            row = dict(rows[0]) if rows else None
        if row is None:
            raise NotFoundError(f"the server has no document of {one.file.source_path!r} any more; was it deleted?")
        return row

    async def retry(self, told: Told, doc_ids: Sequence[str] = ()) -> list[Row]:
        """Let the server try failed documents once more."""
        rows = await self._rows(doc_ids) if doc_ids else await self._all_with_status(("failed", *WAITING))
        before = {row["id"]: row for row in rows}
        for path in [f"{quote(doc_id)}/retry" for doc_id in doc_ids] or ["reprocess_failed"]:
            await self._http.post(f"/documents/{path}")

        async def is_done() -> bool:
            rows = await self._rows(list(before))
            finished = [row for row in rows if _is_changed(row, before) and row["status"] in FINISHED]
            told(len(finished), len(before), "")
            return len(finished) == len(rows)

        await self._until(is_done)
        return [row for row in await self._rows(list(before)) if _is_changed(row, before)]

    async def _rows(self, doc_ids: Sequence[str]) -> list[Row]:
        """Return the documents that exist."""
        rows: list[Row] = []
        for first in range(0, len(doc_ids), _MOST_ON_A_PAGE):
            part = list(doc_ids[first : first + _MOST_ON_A_PAGE])
            found = await self.documents({"search_filters": {"document_ids": part}}, Page(size=_MOST_ON_A_PAGE))
            rows += found["documents"]
        return rows

    async def _all_with_status(self, statuses: Sequence[str]) -> list[Row]:
        rows: list[Row] = []
        page = Page(1, _MOST_ON_A_PAGE, statuses, "created_at", "asc")
        while True:
            found = await self.documents({}, page)
            rows += found["documents"]
            if not found["pagination"]["has_next"]:
                return rows
            page = Page(page.number + 1, page.size, statuses, page.sort, page.direction)

    async def _until(self, is_done: Callable[[], Any]) -> None:
        """Wait until something has happened, or until nothing has been going on for a while."""
        idle = 0
        while not await is_done():
            status = await self._http.get("/documents/pipeline_status")
            idle = 0 if status["busy"] else idle + 1
            if idle >= _IDLE_POLLS:
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def documents(self, fields: Fields, page: Page) -> Row:
        """Return a page of documents."""
        body = {
            **fields,
            "page": page.number,
            "page_size": page.size,
            "sort_field": page.sort,
            "sort_direction": page.direction,
        }
        if page.statuses:
            body["status_filters"] = list(page.statuses)
        return await self._http.post("/documents/paginated", body)

    async def document(self, name: str) -> Row | None:
        """Return a document by id or source path."""
        # The id of a document that was stored without one follows from its path.
        ids = [name, compute_mdhash_id(normalize_source_path(name), prefix="doc-")]
        limits: tuple[Fields, ...] = ({"search_filters": {"document_ids": ids}}, {"path_prefixes": [name]})
        for fields in limits:
            found = await self.documents(fields, Page(size=_MOST_ON_A_PAGE))
            for row in found["documents"]:
                is_attempt = str(row["id"]).startswith("dup-")
                if row["id"] == name or (not is_attempt and name in (row["file_path"], row["source_path"])):
                    return dict(row)
        return None

    async def set_metadata(self, doc_id: str, patch: Fields) -> Row:
        """Replace fields of a document's metadata."""
        return await self._http.patch(f"/documents/{quote(doc_id)}/metadata", dict(patch))

    async def delete(self, doc_ids: Sequence[str], *, with_replies: bool) -> dict[str, str]:
        """Let the server delete documents, and wait for it."""
        body = {"doc_ids": list(doc_ids), "delete_llm_cache": with_replies}
        reply = await self._http.delete("/documents/delete_document", body)
        if reply["status"] != "deletion_started":
            return dict.fromkeys(doc_ids, str(reply["message"]))
        left = list(doc_ids)

        async def is_done() -> bool:
            left[:] = [row["id"] for row in await self._rows(left)]
            return not left

        await self._until(is_done)
        return dict.fromkeys(left, "the server did not delete it; its log says why")

    # --- questions ---------------------------------------------------------------------------------------------------

    async def answer(self, question: Fields) -> Row:
        """Return a whole answer."""
        return await self._http.post("/query", dict(question))

    async def answer_lines(self, question: Fields) -> AsyncIterator[Row]:
        """Yield an answer as it comes."""
        async for line in self._http.lines("/query/stream", dict(question)):
            # An answer that does not stream comes with its references in one line.
            if line.get("references") is not None and "response" in line:
                yield {"references": line["references"]}
                yield {name: value for name, value in line.items() if name != "references"}
            else:
                yield line

    async def preview(self, fields: Fields) -> Row:
        """Return what a filter would match."""
        return await self._http.post("/query/preview", dict(fields))

    async def facets(self, fields: Fields) -> Row:
        """Return what there is to filter by."""
        return await self._http.get("/documents/facets", {"filter": json.dumps(dict(fields))} if fields else {})

    # --- graph -------------------------------------------------------------------------------------------------------

    async def graph(self, view: View) -> Row:
        """Return a part of the graph."""
        asked: dict[str, Any] = {"label": view.name, "max_depth": view.depth, "max_nodes": view.nodes}
        return await self._http.get("/graphs", asked | _scope(view.scope))

    async def similar_names(self, text: str, scope: str | None) -> list[str]:
        """Return names of entities that contain a text."""
        found: Any = await self._http.get("/graph/label/search", {"q": text, "limit": 5} | _scope(scope))
        return list(found)

    async def scopes(self) -> dict[str, int | None]:
        """Return the scopes and the number of their entities."""
        names: Any = await self._http.get("/graph/scope/list")
        counts: dict[str, int | None] = {}
        for name in names:
            try:
                labels: Any = await self._http.get("/graph/label/list", _scope(name))
                counts[name] = len(labels)
            except ServerError as error:
                if error.status != 422:
                    raise
                # The server keeps scopes no longer, and those that are left cannot be asked.
                counts[name] = None
        return counts


def _scope(scope: str | None) -> dict[str, Any]:
    return {"required_tags": [scope]} if scope else {}


def _is_changed(row: Row, before: Mapping[str, Row]) -> bool:
    old = before[row["id"]]
    return (row["status"], row["updated_at"]) != (old["status"], old["updated_at"])
