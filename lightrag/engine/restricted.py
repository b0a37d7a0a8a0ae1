"""An engine as somebody with limited access sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from lightrag.contracts.query import QueryParam
from lightrag.engine.documents import DocumentMethods
from lightrag.engine.queries import QueryMethods
from lightrag.exceptions import AccessDeniedError, NotFoundError, PipelineBusyError
from lightrag.sync import SyncTwins

if TYPE_CHECKING:
    from lightrag.access import AccessPolicy
    from lightrag.contracts.doc_status import DocProcessingStatus
    from lightrag.contracts.graph import KnowledgeGraph
    from lightrag.contracts.sources import SourceConflictPage, SourceConflictRepairResult, SourceRepair
    from lightrag.engine.base import EngineBase
    from lightrag.ingest.delete import DeletionResult
    from lightrag.ingest.scopes import ScopeRebuild
    from lightrag.query.filtered_graph import FilteredGraph
    from lightrag.query_filters import DocumentMetadata, RequiredTagsMode


_BUSY = "the pipeline is busy; try again when it has finished"


class RestrictedEngine(DocumentMethods, QueryMethods, SyncTwins):
    """A view of an engine that shows only what an access policy allows, and changes only that.

    Questions, previews, facets and the graph are answered from the allowed documents; a request that names what lies
    outside is refused with ``AccessDeniedError``. Editing the graph is not offered: an entity belongs to everybody
    whose documents speak of it.
    """

    def __init__(self, engine: EngineBase, access: AccessPolicy) -> None:
        """Look at an engine, which stays the owner of its stores.

        Args:
            engine: The engine.
            access: What may be seen.
        """
        self._engine = engine
        self._access: AccessPolicy = access
        self._state = engine._state  # noqa: SLF001 - a view shares the state of its engine

    @property
    def _context(self) -> Any:  # type: ignore[override]
        return self._engine._context  # noqa: SLF001 - a view shares the stores of its engine

    async def _ready(self) -> None:
        await self._engine._ready()  # noqa: SLF001 - as above

    def restricted(self, required_tags: Iterable[str] = (), forbidden_tags: Iterable[str] = ()) -> RestrictedEngine:
        """Return a view that is limited further.

        Raises:
            ScopeError: A scope tag cannot be used, or differs from that of this view.
            FilterSyntaxError: A tag is malformed.
        """
        return RestrictedEngine(
            self._engine,
            self._access.of(
                [*self._access.required_tags, *required_tags],
                [*self._access.forbidden_tags, *forbidden_tags],
                scope_prefixes=self._scope_prefixes(),
            ),
        )

    def _scope_prefixes(self) -> Sequence[str]:
        return self._engine._settings.scope_tag_prefixes  # noqa: SLF001 - as above

    # --- documents ---------------------------------------------------------------------------------------------------

    async def _enqueue(self, texts: Any, *, metadata: Any, **rest: Any) -> list[str]:
        """Admit documents that carry what the policy requires; without metadata they get the required tags."""
        from lightrag.ingest.documents import count_of
        from lightrag.ingest.given_metadata import one_for_each
        from lightrag.query_filters import DocumentMetadata

        required = {"tags": list(self._access.required_tags)}
        each = [required if one is None else one for one in one_for_each(metadata, count_of(texts))]
        for one in {id(one): one for one in each}.values():
            self._require_inside(DocumentMetadata.coerce(one).to_storage(), "(new)")
        return await super()._enqueue(texts, metadata=each, **rest)

    def _limits(self) -> AccessPolicy | None:
        return None if self._access.is_open else self._access

    def _require_inside(self, metadata: Mapping[str, Any], doc_id: str) -> None:
        """Refuse metadata that would put a document outside, or into a scope of somebody else.

        Raises:
            AccessDeniedError: It would.
        """
        self._access.require(metadata, doc_id)
        self._refuse_foreign_scopes(metadata, "adding a document to")

    def _refuse_foreign_scopes(self, metadata: Mapping[str, Any], what: str) -> None:
        from lightrag.kg_scopes import parse_scope_tag

        scopes = set(parse_scope_tag(metadata.get("user_tags") or [], self._scope_prefixes()))
        foreign = sorted(scopes - {self._access.scope}) if self._access.scope is not None else []
        if foreign:
            self._refuse(f"{what} the scope {foreign[0]!r}")

    async def aget_docs_by_ids(self, ids: str | list[str]) -> dict[str, DocProcessingStatus]:
        """Return the status rows of documents; those outside are left out like unknown ones."""
        found = await super().aget_docs_by_ids(ids)
        return {doc_id: row for doc_id, row in found.items() if self._access.allows(row.metadata, doc_id)}

    async def aget_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        """Return the status rows that one call enqueued; those outside are left out."""
        found = await super().aget_docs_by_track_id(track_id)
        return {doc_id: row for doc_id, row in found.items() if self._access.allows(row.metadata, doc_id)}

    async def get_processing_status(self) -> dict[str, int]:
        """Return the number of documents inside in each state that has any."""
        from lightrag.contracts.doc_status import DocStatus

        rows = await self.context.stores.doc_status.get_docs_by_statuses(list(DocStatus))
        return Counter(row.status.value for doc_id, row in rows.items() if self._access.allows(row.metadata, doc_id))

    async def adelete_by_doc_id(self, doc_id: str, delete_llm_cache: bool = False) -> DeletionResult:
        """Delete a document inside; one also in a scope of somebody else is refused, and one outside does not exist.

        Raises:
            AccessDeniedError: It would be missing elsewhere.
        """
        from lightrag.ingest.delete import DeletionResult, delete_document

        def check(metadata: Mapping[str, Any]) -> None:
            self._require_visible(metadata, doc_id)
            self._refuse_foreign_scopes(metadata, "taking a document out of")

        try:
            check(await self._metadata_inside(doc_id))
            # What is seen now may have been hidden when the deletion gets its turn.
            result = await delete_document(
                self.context, self._state, doc_id, delete_llm_cache=delete_llm_cache, check=check
            )
        except NotFoundError as error:
            return DeletionResult("not_found", doc_id, str(error), 404)
        return replace(result, message=_BUSY) if result.status == "not_allowed" else result

    async def aupdate_document_metadata(
        self, doc_id: str, patch: DocumentMetadata | Mapping[str, Any]
    ) -> DocProcessingStatus:
        """Change the metadata of a document that is inside and stays inside.

        Raises:
            AccessDeniedError: It would lie outside.
            NotFoundError: It lies outside, or does not exist.
        """
        from lightrag.ingest.update_metadata import patched_metadata, update_document_metadata

        def check(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
            self._require_visible(before, doc_id)
            self._require_inside(after, doc_id)

        metadata = await self._metadata_inside(doc_id)
        check(metadata, patched_metadata(self.context, metadata, patch))
        try:
            # What is seen now may have been hidden when the change gets its turn.
            return await update_document_metadata(self.context, self._state, doc_id, patch, check)
        except PipelineBusyError:
            # What it does, and with which document, concerns others too.
            raise PipelineBusyError(_BUSY) from None

    async def _metadata_inside(self, doc_id: str) -> Mapping[str, Any]:
        """Return the metadata of a document inside.

        Ids follow from paths, so that they can be guessed: of one outside nothing is told that is not told of an id
        that nobody has.

        Raises:
            NotFoundError: It lies outside, or does not exist.
        """
        row = await self.context.stores.doc_status.get_by_id(doc_id)
        if row is None:
            raise NotFoundError(f"document {doc_id!r} does not exist")
        metadata: Mapping[str, Any] = row.get("metadata") or {}
        self._require_visible(metadata, doc_id)
        return metadata

    def _require_visible(self, metadata: Mapping[str, Any], doc_id: str) -> None:
        if not self._access.allows(metadata, doc_id):
            raise NotFoundError(f"document {doc_id!r} does not exist")

    async def aretry_failed_documents(self) -> int:
        """Not offered: it would process documents of others.

        Raises:
            AccessDeniedError: Always.
        """
        return self._refuse("retrying all failed documents")

    async def aretry_document(self, doc_id: str) -> DocProcessingStatus:
        """Try a document inside once more.

        Raises:
            NotFoundError: It lies outside, or does not exist.
        """
        return await super().aretry_document(doc_id)

    async def areserve_admission(self, documents: int = 1) -> str:
        """Announce documents, as the engine does; how many others wait is not told."""
        try:
            return await super().areserve_admission(documents)
        except PipelineBusyError:
            raise PipelineBusyError("there is no room for further documents now; try again later") from None

    async def apipeline_enqueue_error_documents(self, error_files: Any, track_id: str | None = None) -> None:
        """Not offered: such a document has no tags, and would be outside.

        Raises:
            AccessDeniedError: Always.
        """
        self._refuse("putting unreadable files on record")

    async def apipeline_reset_failed_for_scan(self, request_id: str, *, scan_owner_token: str | None = None) -> bool:
        """Not offered: it would change documents of others.

        Raises:
            AccessDeniedError: Always.
        """
        return self._refuse("resetting all failed documents")

    async def arollback_failed_custom_chunk_patches(
        self, *, pipeline_status: Any = None, pipeline_status_lock: Any = None
    ) -> dict[str, Any]:
        """Not offered: it would change documents of others.

        Raises:
            AccessDeniedError: Always.
        """
        return self._refuse("taking back custom chunks")

    async def alist_source_conflicts(self, limit: int = 50, cursor: str | None = None) -> SourceConflictPage:
        """Not offered: it would tell paths of others.

        Raises:
            AccessDeniedError: Always.
        """
        return self._refuse("listing source conflicts")

    async def arepair_source_conflict(
        self, repair: SourceRepair, *, dry_run: bool = True
    ) -> SourceConflictRepairResult:
        """Not offered: it would change documents of others.

        Raises:
            AccessDeniedError: Always.
        """
        return self._refuse("repairing source conflicts")

    async def arebuild_scopes(self, progress: Any = None) -> ScopeRebuild:
        """Not offered: it would change the graphs of others.

        Raises:
            AccessDeniedError: Always.
        """
        return self._refuse("rebuilding scopes")

    def cancel_pipeline(self) -> bool:
        """Not offered: it would stop the documents of others.

        Raises:
            AccessDeniedError: Always.
        """
        return self._refuse("cancelling the pipeline")

    def pipeline_status(self) -> dict[str, Any]:
        """Return whether the pipeline is busy; what it does, and with how many documents, concerns others too."""
        status = super().pipeline_status()
        told = ("busy", "destructive_busy", "request_pending")
        hidden = {name: type(value)() for name, value in status.items() if name not in told and value is not None}
        return {**status, **hidden, "job_name": "-" if status["busy"] else "", "job_start": None}

    @staticmethod
    def _refuse(what: str) -> NoReturn:
        raise AccessDeniedError(f"{what} is not allowed with limited access")

    # --- graph -------------------------------------------------------------------------------------------------------

    async def get_graph_labels(self) -> list[str]:
        """Return the names of visible entities, sorted."""
        view = self._view()
        return await view.labels()

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        """Return names of visible entities, best connected first."""
        return await self._view().popular_labels(limit)

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """Return names of visible entities that contain a text, best match first."""
        return await self._view().search_labels(query, limit)

    async def alist_scopes(self) -> dict[str, int]:
        """Return the scope of the policy with its number of entities; none where the policy names none."""
        from lightrag.graph.explore import scope_counts

        counts = await scope_counts(self.context)
        return {tag: count for tag, count in counts.items() if tag == self._access.scope}

    async def get_knowledge_graph(
        self,
        node_label: str,
        max_depth: int = 3,
        max_nodes: int | None = None,
        *,
        required_tags: Sequence[str] = (),
        required_tags_mode: RequiredTagsMode | str = "and",
    ) -> KnowledgeGraph:
        """Return the visible part of the graph around an entity, or its best connected part with ``"*"``."""
        param = QueryParam(required_tags=list(required_tags), required_tags_mode=required_tags_mode)
        return await self.aget_filtered_graph(node_label, param, max_depth=max_depth, max_nodes=max_nodes)

    def _view(self) -> FilteredGraph:
        from lightrag.query.filtered_graph import FilteredGraph
        from lightrag.query.plan import effective_scope
        from lightrag.query_filters import VectorQueryFilter

        scope = effective_scope(self.context.settings, QueryParam(), self._access)
        return FilteredGraph(self.context, self._access.filter or VectorQueryFilter(), scope)
