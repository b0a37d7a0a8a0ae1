"""Choose the gate of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightrag.query.gate import Gate

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.query.plan import QueryPlan


def open_gate(context: EngineContext, plan: QueryPlan, rowless: frozenset[str] = frozenset()) -> Gate:
    """Return the gate of a query; ``rowless`` are documents known to have no status row."""
    if plan.filter is None:
        return Gate(context.stores.evidence)
    from lightrag.query.filter_gate import FilterGate

    return FilterGate(context, plan.filter, plan.partition, rowless)
