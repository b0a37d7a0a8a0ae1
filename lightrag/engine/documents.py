"""Methods about documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lightrag.engine.base import EngineBase

if TYPE_CHECKING:
    from lightrag.contracts.doc_status import DocProcessingStatus
    from lightrag.ingest.delete import DeletionResult
    from lightrag.ingest.documents import ProcessOptions
    from lightrag.ingest.scopes import ScopeRebuild
    from lightrag.query_filters import DocumentMetadata


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
        metadata: DocumentMetadata | dict[str, Any] | None = None,
    ) -> str:
        """Add documents and process them.

        Args:
            input: One text or several.
            split_by_character: Cut at this text first.
            split_by_character_only: Cut nowhere else.
            ids: As many document ids; derived from source path or text when not given.
            file_paths: As many source paths, shown in references.
            track_id: Names this call; made up when not given.
            metadata: Dates, tags and free metadata, shared by all documents of the call.

        Returns:
            The track id, with which the outcome of every document can be looked up.

        Raises:
            InputError: The arguments do not fit together; nothing was stored.
            StorageError: Nothing was stored.
        """
        from lightrag.ingest.documents import ProcessOptions, new_track_id

        track_id = track_id or new_track_id()
        await self._enqueue(
            input,
            ids=ids,
            file_paths=file_paths,
            track_id=track_id,
            metadata=metadata,
            options=ProcessOptions(split_by_character, split_by_character_only),
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
        *,
        chunk_options: dict[str, Any] | None = None,
        document_metadata: DocumentMetadata | dict[str, Any] | None = None,
    ) -> str | None:
        """Store documents as pending; :meth:`apipeline_process_enqueue_documents` processes them.

        Args:
            input: One text or several; with ``docs_format="pending_parse"`` the paths of files to parse.
            ids: As many document ids.
            file_paths: As many source paths.
            track_id: Names this call.
            docs_format: ``raw`` or ``pending_parse``.
            chunk_options: ``{"strategy": ..., "params": {...}}``.
            document_metadata: Shared by all documents of the call.

        Returns:
            The track id, or ``None`` when every document was refused as a duplicate.

        Raises:
            InputError: The arguments do not fit together; nothing was stored.
            StorageError: Nothing was stored.
        """
        from lightrag.ingest.documents import ProcessOptions, new_track_id

        track_id = track_id or new_track_id("enqueue")
        admitted = await self._enqueue(
            input,
            ids=ids,
            file_paths=file_paths,
            track_id=track_id,
            metadata=document_metadata,
            options=ProcessOptions(chunking=chunk_options),
            docs_format=docs_format,
        )
        return track_id if admitted else None

    async def _enqueue(
        self,
        texts: str | list[str],
        *,
        metadata: Any,
        track_id: str,
        options: ProcessOptions,
        docs_format: str = "raw",
        **identity: Any,
    ) -> list[str]:
        from lightrag.ingest.documents import Intake, build_documents
        from lightrag.ingest.enqueue import enqueue
        from lightrag.kg_scopes import check_scope_tags
        from lightrag.query_filters import DocumentMetadata

        notes: dict[str, Any] = {}
        if metadata is not None:
            model = DocumentMetadata.coerce(metadata)
            check_scope_tags(model, self.context.settings.scope_tag_prefixes)
            notes = model.to_storage()
        intake = Intake(notes, options, docs_format, self.context.parsers.route)
        documents = build_documents(texts, intake=intake, **identity)
        return await enqueue(self.context, self._state, documents, track_id, reveals=self._reveals)

    def _reveals(self, doc_id: str, row: DocProcessingStatus) -> bool:
        """Tell whether the caller may be told about a document that an own one repeats."""
        return True

    async def apipeline_process_enqueue_documents(self) -> None:
        """Process everything that is pending or was interrupted. Failed documents are left as they are."""
        from lightrag.ingest.pipeline import process_queue

        await process_queue(self.context, self._state)

    async def aretry_failed_documents(self) -> int:
        """Set failed documents back to pending and process them.

        Returns:
            How many were tried again.
        """
        from lightrag.ingest.pipeline import retry_failed

        count = await retry_failed(self.context)
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
        from lightrag.ingest.pipeline import retry_document

        return await retry_document(self.context, doc_id)

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
        """Return the number of documents in each state that has any."""
        return await self.context.stores.doc_status.get_status_counts()

    async def aget_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        """Return the status rows that one call enqueued."""
        return await self.context.stores.doc_status.get_docs_by_track_id(track_id)

    async def aget_docs_by_ids(self, ids: str | list[str]) -> dict[str, DocProcessingStatus]:
        """Return the status rows of documents; unknown ids are left out."""
        from lightrag.contracts.doc_status import DocProcessingStatus

        wanted = [ids] if isinstance(ids, str) else list(ids)
        rows = await self.context.stores.doc_status.get_by_ids(wanted)
        return {doc_id: DocProcessingStatus.from_row(row) for doc_id, row in zip(wanted, rows, strict=True) if row}
