"""The gate of a filtered query: every candidate of every leg by its own evidence, every text from eligible evidence.

Which documents are eligible is asked of the one truth (:func:`lightrag.query_filters.facts_match_filter`), once per
document and query, and only for documents of candidates. Stores that can filter by documents themselves hand over
candidates that are eligible already; they are asked all the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from lightrag.contracts.evidence import (
    CORRECTION_DOCUMENT_ID,
    Evidence,
    EvidenceSource,
    ObjectKind,
    relation_key,
    split_relation_key,
)
from lightrag.contracts.graph import NodePair, Properties
from lightrag.contracts.vector import BaseVectorStorage, Row
from lightrag.graph.manual import is_manual_document
from lightrag.graph.records import ObjectRecord
from lightrag.query.count_eligible import count_eligible
from lightrag.query.gate import FilterReport, Gate, Page
from lightrag.query_filters import (
    SUMMARY_FIELDS,
    KgEvidencePolicy,
    VectorQueryFilter,
    facts_match_filter,
)
from lightrag.runtime.tokens import count_tokens

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.query_filters import DocumentFacts

T = TypeVar("T")

# How many of an object's eligible rows are read for its description, type and keywords; the newest say most.
NEWEST_ROWS = 64
# Objects that are described together at first; twice as many each further time.
_DESCRIBED_AT_ONCE = 32
# Of documents, which a description does not show.
_SUMMARY_FIELDS = frozenset(SUMMARY_FIELDS)
# How much further a search reaches each time its page is not full.
_GROWTH = 4


class FilterGate(Gate):
    """Admits what has eligible evidence."""

    active = True

    def __init__(
        self,
        context: EngineContext,
        filter: VectorQueryFilter,
        partition: str | None = None,
        rowless: frozenset[str] = frozenset(),
    ) -> None:
        """Open the gate for one query.

        Args:
            context: The workspace.
            filter: Active filter.
            partition: Scope whose graph is asked; ``None`` or ``""`` for the aggregate.
            rowless: Documents that are known to have no status row, and not because they are deleted just now.
        """
        super().__init__(context.stores.evidence)
        self._context = context
        self._stores = context.stores
        self._filter = filter
        self._policy = filter.kg_evidence_policy
        self._excludes = _restricts(filter, partition)
        # Where no document is excluded the merged description holds nothing that must not be seen.
        self._keeps_merged = self._policy is KgEvidencePolicy.KEEP_MERGED or not self._excludes
        self._rowless = rowless
        self._facts: dict[str, DocumentFacts] = {}
        self._truth: dict[str, bool] = {}
        self._visible: dict[tuple[ObjectKind, str], bool] = {}
        self._rows: dict[tuple[ObjectKind, str], list[Evidence]] = {}
        self._candidates = 0
        self._dropped = 0

    # --- documents ---------------------------------------------------------------------------------------------------

    async def eligible_documents(self, document_ids: Iterable[str]) -> set[str]:
        """Return those documents that the filter accepts."""
        wanted = set(document_ids)
        unknown = [document_id for document_id in wanted if document_id not in self._truth]
        if unknown:
            self._facts.update(await self._stores.doc_status.get_facts(unknown))
            self._truth.update((document_id, self._accepts(document_id)) for document_id in unknown)
        return {document_id for document_id in wanted if self._truth[document_id]}

    def _accepts(self, document_id: str) -> bool:
        # A correction may repeat words of any document, so no filter can vouch for it.
        if document_id == CORRECTION_DOCUMENT_ID:
            return False
        return facts_match_filter(self._facts[document_id], self._filter, doc_id=document_id)

    async def unsettled(self) -> frozenset[str] | None:
        """Ask again for the documents that were admitted.

        One without a status row counts as untagged and undated, which is right for rows of other tools and wrong for a
        document whose row has gone since its texts were found.
        """
        admitted = [document_id for document_id, is_eligible in self._truth.items() if is_eligible]
        facts = await self._stores.doc_status.get_facts(admitted)
        with_rows = {document_id for document_id in admitted if not is_manual_document(document_id)}
        missing = frozenset(await self._stores.doc_status.filter_keys(with_rows))
        accepted = all(
            facts_match_filter(facts[document_id], self._filter, doc_id=document_id) for document_id in admitted
        )
        return None if accepted and missing <= self._rowless else missing

    def search_options(self, store: BaseVectorStorage) -> dict[str, Any]:
        """Let the store filter where it does so exactly, or where pushdown is enabled."""
        pushdown = self._context.settings.enable_vector_metadata_filters and store.supports_metadata_filters
        return {"metadata_filter": self._filter} if store.filters_by_documents or pushdown else {}

    # --- candidates --------------------------------------------------------------------------------------------------

    async def admit_chunks(self, candidates: list[Row], page: Page[Row] | None = None) -> list[Row]:
        """Return the rows of eligible documents, a full page where there are enough."""

        async def admit(rows: list[Row]) -> list[Row]:
            eligible = await self.eligible_documents(row.get("full_doc_id") or "" for row in rows)
            return [row for row in rows if (row.get("full_doc_id") or "") in eligible]

        return await self._full_page(candidates, page, admit)

    async def admit_entities(self, candidates: list[str], page: Page[str] | None = None) -> list[str]:
        """Return the entities that have eligible evidence, a full page where there are enough."""

        async def admit(graph_ids: list[str]) -> list[str]:
            visible = await self._visible_objects(ObjectKind.ENTITY, graph_ids)
            return [graph_id for graph_id in graph_ids if graph_id in visible]

        return await self._full_page(candidates, page, admit)

    async def admit_relations(self, candidates: list[NodePair], page: Page[NodePair] | None = None) -> list[NodePair]:
        """Return the relations that have eligible evidence and two visible ends, a full page where there are enough."""

        async def admit(pairs: list[NodePair]) -> list[NodePair]:
            keys = [relation_key(*pair) for pair in pairs]
            visible = await self._visible_objects(ObjectKind.RELATION, keys)
            own = [pair for pair, key in zip(pairs, keys, strict=True) if key in visible]
            ends = await self._visible_objects(
                ObjectKind.ENTITY, list(dict.fromkeys(end for pair in own for end in pair))
            )
            return [pair for pair in own if pair[0] in ends and pair[1] in ends]

        return await self._full_page(candidates, page, admit)

    async def _full_page(
        self, candidates: list[T], page: Page[T] | None, admit: Callable[[list[T]], Awaitable[list[T]]]
    ) -> list[T]:
        """Admit candidates; fetch further until the page is full or the search has no more."""
        admitted = await admit(candidates)
        if page is not None:
            reach = page.wanted
            while len(admitted) < page.wanted and len(candidates) >= reach:
                reach *= _GROWTH
                candidates = await page.fetch(reach)
                admitted = await admit(candidates)
            admitted = admitted[: page.wanted] if len(candidates) > page.wanted else admitted
        self._candidates += len(candidates)
        self._dropped += len(candidates) - len(admitted)
        return admitted

    async def _visible_objects(self, kind: ObjectKind, object_ids: list[str]) -> set[str]:
        unknown = [object_id for object_id in object_ids if (kind, object_id) not in self._visible]
        if unknown:
            visible = await self._with_eligible_evidence(kind, unknown)
            visible = await self._without_excluded_evidence(kind, visible)
            visible = await self._matching_search_filters(kind, visible)
            self._visible.update(((kind, object_id), object_id in visible) for object_id in unknown)
        return {object_id for object_id in object_ids if self._visible[kind, object_id]}

    async def _with_eligible_evidence(self, kind: ObjectKind, object_ids: list[str]) -> set[str]:
        evidence = self._stores.evidence
        if evidence.filters_by_documents:
            return await evidence.eligible_objects(kind, object_ids, self._filter)
        sources = await evidence.sources_of_objects(kind, object_ids)
        eligible = await self.eligible_documents(source.document_id for rows in sources.values() for source in rows)
        return {
            object_id for object_id, rows in sources.items() if any(source.document_id in eligible for source in rows)
        }

    async def _without_excluded_evidence(self, kind: ObjectKind, object_ids: set[str]) -> set[str]:
        """Apply what looks at *all* evidence of an object: ``strict_drop`` and ``apply_forbidden_tags_to_kg``."""
        exclusions = self._filter.object_exclusions
        if not object_ids or not exclusions:
            return object_ids
        evidence, ids = self._stores.evidence, list(object_ids)
        if evidence.filters_by_documents:
            for other, excluded in exclusions:
                find = evidence.excluded_objects if excluded else evidence.eligible_objects
                object_ids = object_ids - await find(kind, ids, other)
            return object_ids
        sources = await evidence.sources_of_objects(kind, ids)
        await self.eligible_documents(source.document_id for rows in sources.values() for source in rows)

        def survives(rows: Sequence[EvidenceSource]) -> bool:
            documents = {source.document_id for source in rows if source.document_id != CORRECTION_DOCUMENT_ID}
            return not any(
                facts_match_filter(self._facts[document_id], other, doc_id=document_id) is not excluded
                for other, excluded in exclusions
                for document_id in documents
            )

        return {object_id for object_id in object_ids if survives(sources.get(object_id, ()))}

    async def _matching_search_filters(self, kind: ObjectKind, object_ids: set[str]) -> set[str]:
        parts = [part.search_filters for part in _all_parts(self._filter) if part.search_filters is not None]
        parts = [part for part in parts if part.labels or part.relation_types or part.properties]
        if not object_ids or not parts:
            return object_ids
        ids = sorted(object_ids)
        rows = await self.eligible_rows(kind, ids)
        stored = await self._stored_properties(kind, ids)
        matching = set()
        for object_id in ids:
            described = self._described(kind, object_id, stored.get(object_id, {}), rows.get(object_id, []))
            if all(
                part.matches_entity(described) if kind is ObjectKind.ENTITY else part.matches_relation(described)
                for part in parts
            ):
                matching.add(object_id)
        return matching

    async def _stored_properties(self, kind: ObjectKind, object_ids: Sequence[str]) -> dict[str, Properties]:
        graph = self._stores.graph
        if kind is ObjectKind.ENTITY:
            return await graph.get_nodes_batch(object_ids)
        pairs = [split_relation_key(key) for key in object_ids]
        edges = await graph.get_edges_batch([{"src": pair[0], "tgt": pair[1]} for pair in pairs])
        return {relation_key(*pair): properties for pair, properties in edges.items()}

    # --- evidence ----------------------------------------------------------------------------------------------------

    async def eligible_rows(self, kind: ObjectKind, object_ids: Sequence[str]) -> dict[str, list[Evidence]]:
        """Return the newest eligible rows of objects, in order of arrival."""
        unread = [object_id for object_id in object_ids if (kind, object_id) not in self._rows]
        if unread:
            evidence = self._stores.evidence
            if evidence.filters_by_documents:
                found = await evidence.eligible_of_objects(kind, unread, self._filter, newest=NEWEST_ROWS)
            else:
                found = await evidence.of_objects(kind, unread)
            eligible = await self.eligible_documents(row.document_id for rows in found.values() for row in rows)
            for object_id in unread:
                rows = [row for row in found.get(object_id, ()) if row.document_id in eligible]
                self._rows[kind, object_id] = rows[-NEWEST_ROWS:]
        return {object_id: self._rows[kind, object_id] for object_id in object_ids}

    async def sources_of_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], limit: int | None
    ) -> dict[str, list[EvidenceSource]]:
        """Return eligible sources of objects, the oldest ``limit`` of each."""
        evidence = self._stores.evidence
        if evidence.filters_by_documents:
            found = await evidence.eligible_sources(kind, object_ids, self._filter, limit=limit)
        else:
            found = await evidence.sources_of_objects(kind, object_ids)
        eligible = await self.eligible_documents(source.document_id for rows in found.values() for source in rows)
        own = {
            object_id: [source for source in rows if source.document_id in eligible]
            for object_id, rows in found.items()
        }
        return {object_id: rows[:limit] for object_id, rows in own.items() if rows}

    async def describe(
        self, kind: ObjectKind, objects: Sequence[tuple[str, Properties]], budget: int | None = None
    ) -> Sequence[tuple[str, Properties]]:
        """Return objects with every text taken from eligible evidence; ``keep_merged`` leaves them as they are.

        A hub has many more neighbours than a budget has room for, so objects are described a few at a time until it is
        used up.
        """
        if self._keeps_merged:
            return objects
        described: list[tuple[str, Properties]] = []
        left, count = budget, _DESCRIBED_AT_ONCE
        while len(described) < len(objects) and (left is None or left >= 0):
            batch = [object_id for object_id, _ in objects[len(described) : len(described) + count]]
            rows = await self.eligible_rows(kind, batch)
            for object_id in batch:
                # Without what people and other tools added: it may repeat words of any document, as a correction may.
                properties = self._described(kind, object_id, {}, rows[object_id])
                described.append((object_id, properties))
                left = None if left is None else left - properties["tokens"]
            count *= 2
        return described

    def _described(
        self, kind: ObjectKind, object_id: str, properties: Properties, rows: Sequence[Evidence]
    ) -> Properties:
        if self._keeps_merged:
            return properties
        extra = ObjectRecord.from_properties(kind, object_id, properties).extra if properties else {}
        record = ObjectRecord(kind=kind, object_id=object_id, extra=extra)
        record.add_rows(rows)
        record.parts = self._within_budget(record.parts)
        tokens = count_tokens(self._context.models.tokenizer, record.context_line())
        shown = record.to_properties(tokens=tokens, skip_open_bounds=True)
        return {name: value for name, value in shown.items() if name not in _SUMMARY_FIELDS}

    def _within_budget(self, parts: list[str]) -> list[str]:
        """Return the newest descriptions that fit what a merged description may have, newest last."""
        budget = self._context.settings.summary_max_tokens
        # A token is at least one byte.
        if sum(len(part.encode()) for part in parts) <= budget:
            return parts
        kept: list[str] = []
        for part in reversed(parts):
            budget -= count_tokens(self._context.models.tokenizer, part)
            if budget < 0 and kept:
                break
            kept.append(part)
        return kept[::-1]

    # --- telling -----------------------------------------------------------------------------------------------------

    async def report(self) -> FilterReport:
        """Return what the filter did."""
        return FilterReport(
            eligible_documents=await count_eligible(self._context, self._filter),
            candidates=self._candidates,
            dropped_by_gate=self._dropped,
            exact=not (self._keeps_merged and self._excludes),
            scope=self._filter.scope_tag,
        )


def _restricts(filter: VectorQueryFilter, partition: str | None) -> bool:
    """Tell whether a filter leaves documents out of a partition: all of a scope's documents carry its tag."""
    if partition and filter.scope_tag == partition:
        filter = filter.model_copy(update={"scope_tag": None})
    return filter.restricts_documents


def _all_parts(filter: VectorQueryFilter) -> list[VectorQueryFilter]:
    return [filter, *(inner for part in filter.all_of for inner in _all_parts(part))]
