"""Methods that answer questions and tell what can be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lightrag.contracts.query import QueryParam
from lightrag.engine.base import EngineBase

if TYPE_CHECKING:
    from lightrag.contracts.graph import KnowledgeGraph
    from lightrag.query.facets import Facets
    from lightrag.query.preview import FilterPreview

Progress = Callable[[str], Awaitable[None] | None]


class QueryMethods(EngineBase):
    """Ask, preview a filter, count what can be filtered by."""

    async def aquery(
        self, query: str, param: QueryParam | None = None, system_prompt: str | None = None
    ) -> str | AsyncIterator[str]:
        """Answer a question.

        Returns:
            The answer, or an iterator of its pieces when ``param.stream``.

        Raises:
            QueryValidationError: The question or a parameter cannot be used.
            ModelError: A model failed.
        """
        from lightrag.query.modes import run_query, to_answer

        return to_answer(
            await run_query(
                self.context, query, param or QueryParam(), system_prompt=system_prompt, access=self._access
            )
        )

    async def aquery_data(self, query: str, param: QueryParam | None = None) -> dict[str, Any]:
        """Return what an answer would be based on: entities, relations, chunks and references."""
        from lightrag.query.modes import run_query, to_data

        return to_data(await run_query(self.context, query, param or QueryParam(), data_only=True, access=self._access))

    async def aquery_llm(
        self,
        query: str,
        param: QueryParam | None = None,
        system_prompt: str | None = None,
        progress_callback: Progress | None = None,
    ) -> dict[str, Any]:
        """Return :meth:`aquery_data` with the answer beside it; failures of models and stores are told, not raised."""
        from lightrag.query.modes import run_query_safely, to_llm

        result = await run_query_safely(
            self.context,
            query,
            param or QueryParam(),
            system_prompt=system_prompt,
            progress=progress_callback,
            access=self._access,
        )
        return to_llm(result)

    async def afilter_preview(self, param: QueryParam) -> FilterPreview:
        """Return how many documents and chunks a query's filter leaves, and a few of them.

        Raises:
            FilterSyntaxError: The filter is not valid.
            ScopeError: Its scope tags cannot be used.
        """
        from lightrag.query.plan import effective_filter
        from lightrag.query.preview import preview

        filter = effective_filter(self.context.settings, param, self._access)
        return await preview(self.context, filter, self._access.filter if self._access else None)

    async def afacets(self, param: QueryParam | None = None) -> Facets:
        """Return tags, types, folders and dates with counts, over all documents or those that a filter leaves.

        Raises:
            FilterSyntaxError: The filter is not valid.
            ScopeError: Its scope tags cannot be used.
        """
        from lightrag.query.facets import facets
        from lightrag.query.plan import effective_filter

        filter = effective_filter(self.context.settings, param or QueryParam(), self._access)
        return await facets(self.context, filter)

    async def aget_filtered_graph(
        self, node_label: str, param: QueryParam, *, max_depth: int = 3, max_nodes: int | None = None
    ) -> KnowledgeGraph:
        """Return the graph around an entity, or with ``"*"`` its best connected part, as a filter leaves it.

        Nodes and edges are shown by their own evidence, with descriptions from eligible evidence only.

        Args:
            node_label: Name of the entity.
            param: Its filter fields are used; a scope tag among the required tags chooses the graph of that scope.
            max_depth: Hops from it.
            max_nodes: Nodes at the most; ``max_graph_nodes`` when ``None``.

        Raises:
            InputError: A number is out of range.
            FilterSyntaxError: The filter is not valid.
            ScopeError: Its scope tags cannot be used.
        """
        from lightrag.graph.explore import knowledge_graph
        from lightrag.query.filtered_graph import FilteredGraph
        from lightrag.query.plan import effective_filter, effective_scope

        settings = self.context.settings
        limit = settings.max_graph_nodes if max_nodes is None else max_nodes
        filter = effective_filter(settings, param, self._access)
        scope = effective_scope(settings, param, self._access)
        if filter is None:
            return await knowledge_graph(
                self.context, node_label, max_depth=max_depth, max_nodes=limit, tenant_tag=scope
            )
        view = FilteredGraph(self.context, filter, scope)
        return await view.around(node_label, max_depth=max_depth, max_nodes=limit)
