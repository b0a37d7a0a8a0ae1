"""What each mode does, as a table of steps, and the one entry point of all queries."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lightrag.access import AccessPolicy
from lightrag.contracts.query import QueryMode, QueryParam
from lightrag.exceptions import AccessDeniedError, InputError, ModelError, UnsupportedFilterError
from lightrag.query.answer import answer, answer_without_context, fail_text
from lightrag.query.gate import Gate
from lightrag.query.observing import observed
from lightrag.query.open_gate import open_gate
from lightrag.query.plan import QueryPlan, make_plan
from lightrag.query.present import present
from lightrag.query.result import QueryResult, failed, no_results, to_answer, to_data, to_llm
from lightrag.query.settle import look_until_settled
from lightrag.query.state import Progress, QueryState
from lightrag.query.steps import (
    Step,
    collect_graph_chunks,
    collect_searched_chunks,
    embed_texts,
    expand_graph,
    find_keywords,
    fit_context,
    order_chunks,
    search_vectors,
    trim_graph,
)
from lightrag.runtime.subjects import subject_logger

if TYPE_CHECKING:
    from lightrag.context import EngineContext

__all__ = ["MODES", "Mode", "QueryResult", "run_query", "run_query_safely", "to_answer", "to_data", "to_llm"]

logger = subject_logger("lightrag.query")


@dataclass(frozen=True, slots=True)
class Mode:
    """How a mode retrieves.

    Attributes:
        legs: What its vector searches look for: ``entities``, ``relations``, ``chunks``.
        steps: In order.
    """

    legs: tuple[str, ...]
    steps: tuple[Step, ...]


_GRAPH_STEPS: tuple[Step, ...] = (
    find_keywords,
    embed_texts,
    search_vectors,
    expand_graph,
    trim_graph,
    collect_graph_chunks,
    order_chunks,
    fit_context,
)
_CHUNK_STEPS: tuple[Step, ...] = (
    embed_texts,
    search_vectors,
    collect_searched_chunks,
    order_chunks,
    fit_context,
)
_ASKED_ONCE = (find_keywords, embed_texts)
MODES: dict[QueryMode, Mode] = {
    "local": Mode(("entities",), _GRAPH_STEPS),
    "global": Mode(("relations",), _GRAPH_STEPS),
    "hybrid": Mode(("entities", "relations"), _GRAPH_STEPS),
    "mix": Mode(("entities", "relations", "chunks"), _GRAPH_STEPS),
    "naive": Mode(("chunks",), _CHUNK_STEPS),
    "bypass": Mode((), ()),
}


@observed
async def run_query(
    context: EngineContext,
    query: str,
    param: QueryParam,
    *,
    system_prompt: str | None = None,
    progress: Progress | None = None,
    data_only: bool = False,
    access: AccessPolicy | None = None,
) -> QueryResult:
    """Run a query.

    Args:
        context: The opened workspace.
        query: The question.
        param: Its parameters.
        system_prompt: Template of the caller instead of our own; see :func:`lightrag.query.answer.system_prompt`.
        progress: Told the name of each step that takes time, before it begins: ``extracting_keywords``,
            ``retrieving_entities``, ``retrieving_relations``, ``retrieving_chunks``, ``reranking``,
            ``generating_response``.
        data_only: Retrieve, but ask no model for an answer.
        access: What the caller may see; the query can only narrow it.

    Raises:
        QueryValidationError: The query cannot be run as asked.
        FilterSyntaxError: A filter is malformed.
        UnsupportedFilterError: A filter cannot be honoured.
        ModelError: A model failed.
        StorageError: A store failed.
    """
    plan = make_plan(context.settings, query, param, system_prompt, access)
    mode = MODES[plan.mode]
    if not mode.steps:
        state = QueryState(context, plan, open_gate(context, plan), mode.legs, progress)
        result = QueryResult(mode=plan.mode)
        if not data_only:
            await answer_without_context(state, result)
        return result
    state = await _retrieve(context, plan, progress, data_only=data_only)
    if not state.found:
        result = no_results(plan.mode)
        result.content = fail_text()
        result.filter = await _filter_report(state, access)
        return result
    result = present(state)
    result.filter = await _filter_report(state, access)
    if not data_only:
        await answer(state, result)
    return result


async def _retrieve(
    context: EngineContext, plan: QueryPlan, progress: Progress | None, *, data_only: bool
) -> QueryState:
    """Run the steps of a mode; with a filter again, while the documents that they find are being changed."""
    mode = MODES[plan.mode]
    last: QueryState | None = None

    async def look(gate: Gate) -> QueryState:
        nonlocal last
        state = QueryState(context, plan, gate, mode.legs, progress)
        # What does not depend on documents is asked for once.
        steps = mode.steps
        if last is not None:
            state.keywords, state.embeddings = last.keywords, last.embeddings
            steps = tuple(step for step in steps if step not in _ASKED_ONCE)
        last = state
        for step in steps:
            if not await step(state):
                return state
        state.found = True
        return state

    if plan.filter is not None:
        found, version = await look_until_settled(context, lambda rowless: open_gate(context, plan, rowless), look)
    else:
        version = "" if data_only else await context.stores.corpus_version()
        found = await look(open_gate(context, plan))
    found.corpus_version = version
    return found


async def _filter_report(state: QueryState, access: AccessPolicy | None) -> dict[str, Any] | None:
    report = await state.gate.report()
    if report is None:
        return None
    told = {"active": True, **asdict(report)}
    if access is not None and not access.is_open:
        # How much was dropped would tell how much there is that the caller may not see.
        told |= {"candidates": report.candidates - report.dropped_by_gate, "dropped_by_gate": 0}
    return told


async def run_query_safely(
    context: EngineContext,
    query: str,
    param: QueryParam,
    *,
    system_prompt: str | None = None,
    progress: Progress | None = None,
    access: AccessPolicy | None = None,
) -> QueryResult:
    """As :func:`run_query`, but a store or model that fails gives a failed result instead of an error.

    This is a request boundary: model functions are written by users and raise whatever their libraries raise, and the
    contract of ``aquery_llm`` is that none of it comes out.

    Raises:
        InputError: The query cannot be run as asked.
        UnsupportedFilterError: A filter cannot be honoured.
    """
    try:
        return await run_query(context, query, param, system_prompt=system_prompt, progress=progress, access=access)
    except (InputError, UnsupportedFilterError, AccessDeniedError):
        raise
    except ModelError as error:
        # The message says all; while a provider is out of order there is one for every question.
        logger.error("query in mode %r failed: %s", param.mode, error)  # noqa: TRY400
        return failed(param.mode, error)
    except Exception as error:
        logger.exception("query in mode %r failed", param.mode)
        return failed(param.mode, error)
