"""Give every query an id, put it on log lines and model calls, and tell listeners how far it is."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import wraps
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from lightrag.exceptions import QueryValidationError
from lightrag.runtime.events import QueryEvent
from lightrag.runtime.subjects import current_subject, working_on

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.contracts.query import QueryParam
    from lightrag.query.result import QueryResult

RunQuery = Callable[..., Awaitable["QueryResult"]]


def observed(run: RunQuery) -> RunQuery:
    """Return ``run_query`` with an id for each query, and with its beginning and end told to listeners."""

    @wraps(run)
    async def call(context: EngineContext, query: str, param: QueryParam, **options: Any) -> QueryResult:
        from lightrag.contracts.query import QueryParam

        if not isinstance(param, QueryParam):
            raise QueryValidationError(f"param is {param!r}; it must be a QueryParam, such as QueryParam(mode='mix')")
        with working_on(query_id=token_hex(4)):
            started, outcome = time.monotonic(), "failed"
            announce_step(context, str(param.mode), "started", started)
            try:
                result = await run(context, query, param, **options)
                outcome = "finished"
                return result
            finally:
                announce_step(context, str(param.mode), outcome, started)

    return call


def announce_step(context: EngineContext, mode: str, step: str, started: float) -> None:
    """Tell that a query comes to a step.

    Args:
        context: The workspace.
        mode: Mode of the query.
        step: The step.
        started: When the query began, by ``time.monotonic``.
    """
    if context.events.wants(QueryEvent):
        query_id = current_subject().query_id
        seconds = time.monotonic() - started
        context.events.emit(QueryEvent(query_id=query_id, mode=mode, step=step, seconds=seconds))
