"""Methods about the knowledge graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.engine.base import EngineBase

if TYPE_CHECKING:
    from lightrag.contracts.graph import KnowledgeGraph
    from lightrag.ingest.delete import DeletionResult
    from lightrag.query_filters import DocumentMetadata, RequiredTagsMode


class GraphMethods(EngineBase):
    """Look at the graph, edit it, bring one along, take it away.

    ``tenant_tag`` names a scope; ``None`` is the aggregate. Changes are refused with ``PipelineBusyError`` while
    documents are processed.
    """

    # --- looking -----------------------------------------------------------------------------------------------------

    async def get_graph_labels(self, *, tenant_tag: str | None = None) -> list[str]:
        """Return the names of all entities, sorted."""
        from lightrag.graph.explore import entity_labels

        return await entity_labels(self.context, tenant_tag=tenant_tag)

    async def get_popular_labels(self, limit: int = 300, *, tenant_tag: str | None = None) -> list[str]:
        """Return names of entities, best connected first."""
        from lightrag.graph.explore import popular_labels

        return await popular_labels(self.context, limit, tenant_tag=tenant_tag)

    async def search_labels(self, query: str, limit: int = 50, *, tenant_tag: str | None = None) -> list[str]:
        """Return names of entities that contain a text, best match first."""
        from lightrag.graph.explore import search_labels

        return await search_labels(self.context, query, limit, tenant_tag=tenant_tag)

    async def alist_scopes(self) -> dict[str, int]:
        """Return the number of entities of each scope, by scope tag."""
        from lightrag.graph.explore import scope_counts

        return await scope_counts(self.context)

    async def get_knowledge_graph(
        self,
        node_label: str,
        max_depth: int = 3,
        max_nodes: int | None = None,
        *,
        required_tags: Sequence[str] = (),
        required_tags_mode: RequiredTagsMode | str = "and",
    ) -> KnowledgeGraph:
        """Return the part of the graph around an entity, or the best connected entities with ``"*"``.

        Args:
            node_label: Name of the entity.
            max_depth: Hops from it.
            max_nodes: Nodes at the most; ``max_graph_nodes`` when ``None``.
            required_tags: A scope tag among them chooses the graph of that scope. By the others nodes and edges are
                shown as documents with these tags describe them, as by :meth:`aget_filtered_graph`.
            required_tags_mode: Whether documents carry all or any of the others.

        Raises:
            InputError: A number is out of range.
            FilterSyntaxError: A tag is malformed.
            ScopeError: The scope tag cannot be used.
        """
        from lightrag.contracts.query import QueryParam
        from lightrag.graph.explore import knowledge_graph
        from lightrag.query.filtered_graph import FilteredGraph
        from lightrag.query.plan import effective_filter, effective_scope

        settings = self.context.settings
        param = QueryParam(required_tags=list(required_tags), required_tags_mode=required_tags_mode)
        filter, scope = effective_filter(settings, param), effective_scope(settings, param)
        limit = settings.max_graph_nodes if max_nodes is None else max_nodes
        if filter is not None and filter.required_tags:
            view = FilteredGraph(self.context, filter, scope)
            return await view.around(node_label, max_depth=max_depth, max_nodes=limit)
        return await knowledge_graph(self.context, node_label, max_depth=max_depth, max_nodes=limit, tenant_tag=scope)

    async def get_entity_info(
        self, entity_name: str, include_vector_data: bool = False, *, tenant_tag: str | None = None
    ) -> dict[str, Any]:
        """Return an entity: ``entity_name``, ``source_id``, ``graph_data``; the last two may be ``None``."""
        from lightrag.graph.info import entity_info

        return await entity_info(
            self.context, entity_name, tenant_tag=tenant_tag, include_vector_data=include_vector_data
        )

    async def get_relation_info(
        self, src_entity: str, tgt_entity: str, include_vector_data: bool = False, *, tenant_tag: str | None = None
    ) -> dict[str, Any]:
        """Return a relation: ``src_entity``, ``tgt_entity``, ``source_id``, ``graph_data``."""
        from lightrag.graph.info import relation_info

        return await relation_info(
            self.context, src_entity, tgt_entity, tenant_tag=tenant_tag, include_vector_data=include_vector_data
        )

    async def aexport_data(
        self,
        output_path: str,
        file_format: str = "csv",
        include_vector_data: bool = False,
        *,
        tenant_tag: str | None = None,
    ) -> None:
        """Write all entities and relations to a file: ``csv``, ``excel``, ``md`` or ``txt``."""
        from lightrag.graph.export import export_graph

        await export_graph(
            self.context, output_path, file_format, include_vector_data=include_vector_data, tenant_tag=tenant_tag
        )

    async def acheck(self, *, repair: bool = False) -> list[str]:
        """Return what does not agree between status, chunks, evidence, graph and vectors; mend it with ``repair``."""
        from lightrag.graph.check import graph_consistency

        return await graph_consistency(self.context, repair=repair)

    # --- changing ----------------------------------------------------------------------------------------------------

    async def acreate_entity(
        self, entity_name: str, entity_data: Mapping[str, Any], *, tenant_tag: str | None = None
    ) -> dict[str, Any]:
        """Create an entity from ``description``, ``entity_type`` and further properties."""
        from lightrag.graph.create import create_entity

        return await create_entity(self.context, self._state, entity_name, entity_data, tenant_tag=tenant_tag)

    async def acreate_relation(
        self, source_entity: str, target_entity: str, relation_data: Mapping[str, Any], *, tenant_tag: str | None = None
    ) -> dict[str, Any]:
        """Create a relation from ``description``, ``keywords``, ``weight`` and further properties."""
        from lightrag.graph.create import create_relation

        ends = (source_entity, target_entity)
        return await create_relation(self.context, self._state, ends, relation_data, tenant_tag=tenant_tag)

    async def aedit_entity(
        self,
        entity_name: str,
        updated_data: Mapping[str, Any],
        allow_rename: bool = True,
        allow_merge: bool = False,
        *,
        tenant_tag: str | None = None,
    ) -> dict[str, Any]:
        """Change an entity; ``entity_name`` in the data renames it, or merges it into one that exists."""
        from lightrag.graph.edit_entity import EditOptions, edit_entity

        options = EditOptions(allow_rename, allow_merge, tenant_tag)
        return await edit_entity(self.context, self._state, entity_name, updated_data, options)

    async def aedit_relation(
        self, source_entity: str, target_entity: str, updated_data: Mapping[str, Any], *, tenant_tag: str | None = None
    ) -> dict[str, Any]:
        """Change a relation."""
        from lightrag.graph.edit_relation import edit_relation

        ends = (source_entity, target_entity)
        return await edit_relation(self.context, self._state, ends, updated_data, tenant_tag=tenant_tag)

    async def amerge_entities(
        self,
        source_entities: Sequence[str],
        target_entity: str,
        merge_strategy: str | Mapping[str, str] | None = None,
        target_entity_data: Mapping[str, Any] | None = None,
        *,
        tenant_tag: str | None = None,
    ) -> dict[str, Any]:
        """Merge entities into one, with all their evidence and relations."""
        from lightrag.graph.merge_entities import MergeOptions, merge_entities

        options = MergeOptions(merge_strategy, target_entity_data, tenant_tag)
        return await merge_entities(self.context, self._state, source_entities, target_entity, options)

    async def adelete_by_entity(self, entity_name: str, *, tenant_tag: str | None = None) -> DeletionResult:
        """Delete an entity with its relations."""
        from lightrag.ingest.delete_objects import delete_entity

        return await delete_entity(self.context, self._state, entity_name, tenant_tag=tenant_tag)

    async def adelete_by_relation(
        self, source_entity: str, target_entity: str, *, tenant_tag: str | None = None
    ) -> DeletionResult:
        """Delete a relation; both entities stay."""
        from lightrag.ingest.delete_objects import delete_relation

        ends = (source_entity, target_entity)
        return await delete_relation(self.context, self._state, ends, tenant_tag=tenant_tag)

    # --- bringing ----------------------------------------------------------------------------------------------------

    async def ainsert_custom_kg(
        self,
        custom_kg: Mapping[str, Any],
        full_doc_id: str | None = None,
        *,
        metadata: DocumentMetadata | Mapping[str, Any] | None = None,
        tenant_tag: str | None = None,
    ) -> str:
        """Add a knowledge graph as a document; return its id, by which it can be deleted."""
        from lightrag.ingest.custom_documents import CustomOptions
        from lightrag.ingest.custom_kg import insert_custom_kg

        options = CustomOptions(full_doc_id, None, metadata, tenant_tag)
        return await insert_custom_kg(self.context, self._state, custom_kg, options)

    async def ainsert_custom_chunks(
        self,
        full_text: str,
        text_chunks: Sequence[str],
        doc_id: str | None = None,
        *,
        file_path: str | None = None,
        metadata: DocumentMetadata | Mapping[str, Any] | None = None,
    ) -> str:
        """Add a document that is cut already; return its id."""
        from lightrag.ingest.custom_chunks import insert_custom_chunks
        from lightrag.ingest.custom_documents import CustomOptions

        options = CustomOptions(doc_id, file_path, metadata)
        return await insert_custom_chunks(self.context, self._state, full_text, text_chunks, options)
