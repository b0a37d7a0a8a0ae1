"""Look again when documents were changed during a look: a filtered query sees each of them before a change or after it.

Between the moment in which a gate asks for a document and the one in which its texts are read, the document may be
deleted, be replaced by another text, or get further text beside other tags. So what was admitted is asked for again
at the end, if anything in the corpus has changed; where the answer is another one, everything is thrown away and
looked for anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.query.gate import Gate

T = TypeVar("T")
OpenGate = Callable[[frozenset[str]], "Gate"]

# Changes of the very documents that a query finds, so often in a row, are rare enough to let them wait.
_ATTEMPTS = 4


async def look_until_settled(
    context: EngineContext, open_gate: OpenGate, look: Callable[[Gate], Awaitable[T]]
) -> tuple[T, str]:
    """Return what a look finds while the documents that it admits stay as they are.

    Args:
        context: The workspace.
        open_gate: Opens a gate; given the documents that have no status row although nobody deletes them.
        look: Looks through a gate, from the beginning.

    Returns:
        What was found, and the version of the corpus before.
    """
    rowless: frozenset[str] = frozenset()
    for attempt in range(1, _ATTEMPTS + 1):
        async with AsyncExitStack() as stack:
            if attempt == _ATTEMPTS:
                # Whoever changes documents holds it.
                await stack.enter_async_context(context.graph_lock)
            version = await context.stores.corpus_version()
            gate = open_gate(rowless)
            found = await look(gate)
            if attempt == _ATTEMPTS or version == await context.stores.corpus_version():
                break
            missing = await gate.unsettled()
            if missing is None:
                break
            rowless = missing
    return found, version
