"""Give every query an id, put it on log lines and model calls, and tell listeners how far it is."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import wraps
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from lightrag.runtime.events import QueryEvent
from lightrag.runtime.subjects import current_subject, working_on

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.contracts.query import QueryParam
    from lightrag.query.result import QueryResult
    from lightrag.query.state import QueryState

RunQuery = Callable[..., Awaitable["QueryResult"]]


def observed(run: RunQuery) -> RunQuery:
    """Return ``run_query`` with an id for each query, and with its beginning and end told to listeners."""

    @wraps(run)
    async def call(context: EngineContext, query: str, param: QueryParam, **options: Any) -> QueryResult:
        with working_on(query_id=token_hex(4)):
            started, outcome = time.monotonic(), "failed"
            _tell(context, str(param.mode), "started", started)
            try:
                result = await run(context, query, param, **options)
                outcome = "finished"
                return result
            finally:
                _tell(context, str(param.mode), outcome, started)

    return call


def announce_step(state: QueryState, step: str) -> None:
    """Tell that a step begins."""
    _tell(state.context, state.plan.mode, step, state.started)


def _tell(context: EngineContext, mode: str, step: str, started: float) -> None:
    if context.events.wants(QueryEvent):
        query_id = current_subject().query_id
        seconds = time.monotonic() - started
        context.events.emit(QueryEvent(query_id=query_id, mode=mode, step=step, seconds=seconds))
