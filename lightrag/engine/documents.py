"""Methods about documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lightrag.engine.base import EngineBase

if TYPE_CHECKING:
    from lightrag.access import AccessPolicy
    from lightrag.contracts.doc_status import DocProcessingStatus
    from lightrag.contracts.sources import SourceConflictPage, SourceConflictRepairResult, SourceRepair
    from lightrag.ingest.delete import DeletionResult
    from lightrag.ingest.options import ProcessOptions
    from lightrag.ingest.scopes import ScopeRebuild
    from lightrag.query_filters import DocumentMetadata

    # For all documents of a call, or a list with one for each.
    OneMetadata: TypeAlias = DocumentMetadata | dict[str, Any] | None
    GivenMetadata: TypeAlias = OneMetadata | Sequence[OneMetadata]


class DocumentMethods(EngineBase):
    """Add, process, look up, change and delete documents."""

    async def ainsert(
        self,
        input: str | list[str],
        split_by_character: str | None = None,
        split_by_character_only: bool = False,
        ids: str | list[str] | None = None,
        file_paths: str | list[str] | None = None,
        track_id: str | None = None,
        *,
        metadata: GivenMetadata = None,
    ) -> str:
        """Add documents and process them.

        Args:
            input: One text or several.
            split_by_character: Cut at this text first.
            split_by_character_only: Cut nowhere else.
            ids: As many document ids; derived from source path or text when not given.
            file_paths: As many source paths, shown in references.
            track_id: Names this call; made up when not given.
            metadata: Dates, tags and free metadata, for all documents of the call, or a list with those of each.

        Returns:
            The track id, with which the outcome of every document can be looked up.

        Raises:
            InputError: The arguments do not fit together; nothing was stored.
            StorageError: Nothing was stored.
        """
        from lightrag.ingest.documents import count_of, new_track_id
        from lightrag.ingest.options import ProcessOptions

        track_id = track_id or new_track_id()
        options = ProcessOptions(split_by_character, split_by_character_only)
        await self._enqueue(
            input,
            ids=ids,
            file_paths=file_paths,
            track_id=track_id,
            metadata=metadata,
            options=[options] * count_of(input),
        )
        await self.apipeline_process_enqueue_documents()
        return track_id

    async def apipeline_enqueue_documents(
        self,
        input: str | list[str],
        ids: str | list[str] | None = None,
        file_paths: str | list[str] | None = None,
        track_id: str | None = None,
        docs_format: str = "raw",
        parse_engine: str | Sequence[str] | None = None,
        process_options: str | Sequence[str] | None = None,
        chunk_options: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        admission_token: str | None = None,
        from_scan: bool = False,
        *,
        document_metadata: GivenMetadata = None,
    ) -> str | None:
        """Store documents as pending; :meth:`apipeline_process_enqueue_documents` processes them.

        Args:
            input: One text or several; with ``docs_format="pending_parse"`` the paths of files to parse, or empty
                texts where ``file_paths`` are those.
            ids: As many document ids.
            file_paths: As many source paths.
            track_id: Names this call.
            docs_format: ``raw`` or ``pending_parse``.
            parse_engine: Parser of the files, one for all or one for each; it wins over hints in their names.
            process_options: Letters as in such hints, for all or for each: ``!`` for no graph, ``F`` ``R`` ``V`` ``P``
                ``C`` for the chunking strategy.
            chunk_options: ``{"strategy": ..., "params": {...}}``, or parameters by name of strategy beside
                ``chunk_token_size``; for all or for each.
            admission_token: From :meth:`areserve_admission`; an unknown one is none.
            from_scan: The files lie in an input folder: ``max_pending_documents`` does not keep them out.
            document_metadata: For all documents of the call, or a list with those of each.

        Returns:
            The track id, or ``None`` when every document was refused as a duplicate.

        Raises:
            InputError: The arguments do not fit together; nothing was stored.
            PipelineBusyError: Too many documents wait already; nothing was stored.
            StorageError: Nothing was stored.
        """
        from lightrag.ingest.documents import count_of, new_track_id
        from lightrag.ingest.enqueue import Admission
        from lightrag.ingest.options import options_of_call

        track_id = track_id or new_track_id("enqueue")
        admitted = await self._enqueue(
            input,
            ids=ids,
            file_paths=file_paths,
            track_id=track_id,
            metadata=document_metadata,
            options=options_of_call(count_of(input), parse_engine, process_options, chunk_options),
            docs_format=docs_format,
            admission=Admission(admission_token, from_scan, self._limits()),
        )
        return track_id if admitted else None

    async def _enqueue(
        self,
        texts: str | list[str],
        *,
        metadata: Any,
        track_id: str,
        options: Sequence[ProcessOptions],
        docs_format: str = "raw",
        **identity: Any,
    ) -> list[str]:
        from lightrag.ingest.documents import Intake, build_documents, count_of
        from lightrag.ingest.enqueue import Admission, enqueue
        from lightrag.ingest.given_metadata import stored_for_each

        notes = stored_for_each(metadata, count_of(texts), self.context.settings.scope_tag_prefixes)
        admission = identity.pop("admission", None) or Admission(access=self._limits())
        intake = Intake(notes, options, docs_format, self.context.parsers.route)
        documents = build_documents(texts, intake=intake, **identity)
        return await enqueue(self.context, self._state, documents, track_id, admission)

    async def areserve_admission(self, documents: int = 1) -> str:
        """Announce documents that will be enqueued: room is kept for them, and nobody clears the workspace meanwhile.

        Args:
            documents: How many.

        Returns:
            The ``admission_token``; give it back with :meth:`release_admission`, whatever becomes of the documents.

        Raises:
            PipelineBusyError: There is no room, or documents are being deleted.
        """
        from lightrag.ingest.enqueue import refuse_when_full

        await refuse_when_full(self.context, self._state, documents)
        return self._state.admit(documents)

    def release_admission(self, token: str) -> None:
        """Give back what :meth:`areserve_admission` kept; a token that is not known is passed over."""
        self._state.release(token)

    def _limits(self) -> AccessPolicy | None:
        """Return what the caller may see; ``None`` for everything."""
        return None

    async def apipeline_enqueue_error_documents(
        self, error_files: Sequence[Mapping[str, Any]], track_id: str | None = None
    ) -> None:
        """Put files on record that somebody else could not read, as failed documents.

        They are never retried, as there is no text; deleting the row makes the name free again.

        Args:
            error_files: Each with ``file_path``, ``error_description`` (a summary), ``original_error`` (the reason)
                and ``file_size`` (bytes); all may be missing.
            track_id: Names the call; made up when not given.

        Raises:
            InputError: An entry is not as described; nothing was stored.
        """
        from lightrag.ingest.error_documents import enqueue_error_documents

        await enqueue_error_documents(self.context, self._state, error_files, track_id)

    async def apipeline_process_enqueue_documents(self) -> None:
        """Process everything that is pending or was interrupted. Failed documents are left as they are."""
        from lightrag.ingest.pipeline import process_queue

        await process_queue(self.context, self._state)

    async def aretry_failed_documents(self) -> int:
        """Set failed documents back to pending and process them.

        Returns:
            How many were tried again.
        """
        from lightrag.ingest.retry import retry_failed

        count = await retry_failed(self.context, self._state)
        await self.apipeline_process_enqueue_documents()
        return count

    async def aretry_document(self, doc_id: str) -> DocProcessingStatus:
        """Set one failed document back to pending; :meth:`apipeline_process_enqueue_documents` processes it.

        Returns:
            The new status row.

        Raises:
            NotFoundError: There is no such document.
            InputError: It has not failed, or nothing of it is stored that could be tried again.
        """
        from lightrag.ingest.retry import retry_document

        return await retry_document(self.context, self._state, doc_id, self._limits())

    async def apipeline_reset_failed_for_scan(self, request_id: str, *, scan_owner_token: str | None = None) -> bool:
        """Set failed documents back to pending, so that the next processing tries each of them once.

        Args:
            request_id: Names the request in the log of the pipeline.
            scan_owner_token: Accepted; a scan does not keep a reset out.

        Returns:
            Whether it was done; not while the pipeline is busy.
        """
        from lightrag.ingest.retry import reset_failed

        return await reset_failed(self.context, self._state, request_id)

    async def arollback_failed_custom_chunk_patches(
        self, *, pipeline_status: Any = None, pipeline_status_lock: Any = None
    ) -> dict[str, Any]:
        """Take out the chunks of calls of ``ainsert_custom_chunks`` that broke off.

        This engine stores such a document at once or not at all; other programs leave a note in its status row. A new
        document is deleted; one that was there before is what it was.

        Args:
            pipeline_status: Accepted; the pipeline belongs to the engine.
            pipeline_status_lock: Accepted, as above.

        Returns:
            ``rolled_back_count``, ``failed_count``, and some of the ids: ``rolled_back_sample``, ``failed_sample``.

        Raises:
            PipelineBusyError: Documents are being processed or deleted.
        """
        from lightrag.ingest.custom_rollback import rollback_custom_chunks

        return await rollback_custom_chunks(self.context, self._state)

    def cancel_pipeline(self) -> bool:
        """Ask the running pipeline to stop; what it has not finished fails with that reason.

        Returns:
            Whether a pipeline was running.
        """
        if not self._state.busy:
            return False
        self._state.cancellation_requested = True
        self._state.cancellation_reason = "requested by the user"
        return True

    def pipeline_status(self) -> dict[str, Any]:
        """Return what the pipeline is doing, as clients know it."""
        return self._state.snapshot()

    async def adelete_by_doc_id(self, doc_id: str, delete_llm_cache: bool = False) -> DeletionResult:
        """Delete a document and everything that came from it alone."""
        from lightrag.ingest.delete import delete_document

        return await delete_document(self.context, self._state, doc_id, delete_llm_cache=delete_llm_cache)

    async def aupdate_document_metadata(
        self, doc_id: str, patch: DocumentMetadata | Mapping[str, Any]
    ) -> DocProcessingStatus:
        """Replace dates, tags, meta or source fields of a document without extracting it again.

        Args:
            doc_id: The document.
            patch: Fields of :class:`~lightrag.query_filters.DocumentMetadata` to replace, or one that was given those
                fields; ``None`` clears one.

        Returns:
            The new status row.

        Raises:
            FilterSyntaxError: A field is unknown or not valid; nothing was changed.
            NotFoundError: There is no such document.
            PipelineBusyError: Documents are being processed.
        """
        from lightrag.ingest.update_metadata import update_document_metadata

        return await update_document_metadata(self.context, self._state, doc_id, patch)

    async def arebuild_scopes(self, progress: Callable[[int, int], None] | None = None) -> ScopeRebuild:
        """Bring the scopes of all documents in line with their tags and the settings, without extracting again.

        Args:
            progress: Told how many documents are done, and of how many.

        Raises:
            PipelineBusyError: Documents are being processed.
        """
        from lightrag.ingest.scopes import rebuild_scopes

        return await rebuild_scopes(self.context, self._state, progress)

    async def get_processing_status(self) -> dict[str, int]:
        """Return the number of documents in each state that has any; another state counts 0 when it is asked for."""
        return Counter(await self.context.stores.doc_status.get_status_counts())

    async def aget_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        """Return the status rows that one call enqueued."""
        return await self.context.stores.doc_status.get_docs_by_track_id(track_id)

    async def aget_docs_by_ids(self, ids: str | list[str]) -> dict[str, DocProcessingStatus]:
        """Return the status rows of documents; unknown ids are left out."""
        from lightrag.contracts.doc_status import DocProcessingStatus

        wanted = [ids] if isinstance(ids, str) else list(ids)
        rows = await self.context.stores.doc_status.get_by_ids(wanted)
        return {doc_id: DocProcessingStatus.from_row(row) for doc_id, row in zip(wanted, rows, strict=True) if row}

    async def alist_source_conflicts(self, limit: int = 50, cursor: str | None = None) -> SourceConflictPage:
        """Return source paths that several documents have, by path.

        Args:
            limit: How many at the most.
            cursor: Behind which one; ``None`` for the first page.

        Raises:
            InputError: The limit is not positive.
        """
        from lightrag.contracts.sources import CURSOR_START, CursorAfter

        position = CURSOR_START if cursor is None else CursorAfter(cursor)
        return await self.context.stores.doc_status.list_source_conflicts_page(limit=limit, position=position)

    async def arepair_source_conflict(
        self, repair: SourceRepair, *, dry_run: bool = True
    ) -> SourceConflictRepairResult:
        """Let a source path stand for one of the documents that have it; see the store's method of that name.

        Raises:
            InputError: The document that was chosen does not have the path.
            SourceConflictRepairCASError: The documents are others than the caller saw.
            PipelineBusyError: Documents are being processed or deleted.
        """
        from lightrag.ingest.source_conflicts import repair_source_conflict

        return await repair_source_conflict(self.context, self._state, repair, dry_run=dry_run)
