"""How many documents a filter accepts, counted once where counting reads all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightrag.query_filters import VectorQueryFilter, build_filter_cache_hash

if TYPE_CHECKING:
    from lightrag.context import EngineContext

# Filters whose count is remembered.
_MOST = 256


async def count_eligible(context: EngineContext, filter: VectorQueryFilter) -> int:
    """Return how many processed documents a filter accepts.

    A store without an index for that, such as one in a server of keys and values, reads every status row; then the
    count is remembered until the corpus changes.
    """
    stores = context.stores
    if stores.doc_status.counts_by_index:
        return await stores.doc_status.count_eligible(filter)
    key, version = build_filter_cache_hash(filter) or "", await stores.corpus_version()
    known = context.eligible_counts.get(key)
    if known is not None and known[0] == version:
        return known[1]
    count = await stores.doc_status.count_eligible(filter)
    if len(context.eligible_counts) >= _MOST:
        context.eligible_counts.clear()
    context.eligible_counts[key] = (version, count)
    return count
