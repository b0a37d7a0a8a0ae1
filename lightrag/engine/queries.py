"""Methods that answer questions and tell what can be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lightrag.contracts.query import QueryParam
from lightrag.engine.base import EngineBase

if TYPE_CHECKING:
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

        return to_answer(await run_query(self.context, query, param or QueryParam(), system_prompt=system_prompt))

    async def aquery_data(self, query: str, param: QueryParam | None = None) -> dict[str, Any]:
        """Return what an answer would be based on: entities, relations, chunks and references."""
        from lightrag.query.modes import run_query, to_data

        return to_data(await run_query(self.context, query, param or QueryParam(), data_only=True))

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

        return await preview(self.context, effective_filter(self.context.settings, param))

    async def afacets(self, param: QueryParam | None = None) -> Facets:
        """Return tags, types, folders and dates with counts, over all documents or those that a filter leaves.

        Raises:
            FilterSyntaxError: The filter is not valid.
            ScopeError: Its scope tags cannot be used.
        """
        from lightrag.query.facets import facets
        from lightrag.query.plan import effective_filter

        filter = None if param is None else effective_filter(self.context.settings, param)
        return await facets(self.context, filter)
