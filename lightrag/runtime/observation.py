"""How an engine watches its models: each call is timed, its tokens are added up, and who listens is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from lightrag.contracts.models import Tokenizer
from lightrag.runtime.events import Events, ModelEvent
from lightrag.runtime.subjects import current_subject
from lightrag.runtime.usage import CallUsage, RoleUsage, TokenEstimate, UsageMeter, reported_to

DONE = "done"
FAILED = "failed"
CANCELLED = "cancelled"


class Observation:
    """Listeners and figures of one engine; they outlive the opening and closing of its stores.

    Attributes:
        events: Who listens.
    """

    def __init__(self) -> None:
        self.events = Events()
        self._meters: dict[str, UsageMeter] = {}

    def meter(self, role: str) -> UsageMeter:
        """Return the figures of a role."""
        return self._meters.setdefault(role, UsageMeter())

    def usage(self) -> dict[str, RoleUsage]:
        """Return what each role has used."""
        return {role: meter.usage() for role, meter in self._meters.items()}


class CallObserver:
    """Watches the calls of one role.

    Attributes:
        role: The role.
        meter: Its figures.
    """

    def __init__(self, role: str, observation: Observation, tokenizer: Tokenizer | None) -> None:
        """Watch a role.

        Args:
            role: The role.
            observation: Takes what is seen.
            tokenizer: Counts the tokens that providers do not tell.
        """
        self.role = role
        self.meter = observation.meter(role)
        self._events = observation.events
        self._prompts = TokenEstimate(tokenizer)
        self._replies = TokenEstimate(tokenizer)

    async def watch(self, call: Awaitable[Any], sent: Sequence[str]) -> Any:
        """Await a call and note what it cost.

        Args:
            call: The call; not started yet.
            sent: Texts that it sends.

        Returns:
            What the call returns; an async iterator comes wrapped, and is noted when it ends.
        """
        record = _Record(self, sent)
        try:
            with reported_to(record.usage):
                reply = await call
        except BaseException as error:
            record.end(CANCELLED if isinstance(error, asyncio.CancelledError) else FAILED, "")
            raise
        if hasattr(reply, "__aiter__"):
            return WatchedStream(reply, record)
        record.end(DONE, reply if isinstance(reply, str) else "")
        return reply

    def ended(self, record: _Record, outcome: str, received: str) -> None:
        """Add a call that ended to the figures, and tell who listens."""
        usage, seconds = record.usage, time.perf_counter() - record.started
        # What failed without a word from the provider has most probably not been charged.
        silent = outcome == FAILED
        prompt = usage.prompt_tokens
        if prompt is None:
            prompt = 0 if silent else self._prompts.tokens(record.sent)
        completion = usage.completion_tokens
        if completion is None:
            completion = self._replies.tokens((received,))
        estimated = usage.prompt_tokens is None and not silent
        meter = self.meter
        meter.add(
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=seconds,
            failed=outcome != DONE,
            estimated=estimated,
        )
        meter.add_cost(meter.prices.cost(prompt, completion) if usage.cost is None else usage.cost)
        if self._events.wants(ModelEvent):
            subject = record.subject
            self._events.emit(
                ModelEvent(
                    role=self.role,
                    outcome=outcome,
                    seconds=seconds,
                    prompt_tokens=prompt,
                    completion_tokens=completion,
                    estimated=estimated,
                    document_id=subject.document_id,
                    track_id=subject.track_id,
                    query_id=subject.query_id,
                )
            )


class _Record:
    """One call that is going on."""

    __slots__ = ("_ended", "_observer", "sent", "started", "subject", "usage")

    def __init__(self, observer: CallObserver, sent: Sequence[str]) -> None:
        self.usage = CallUsage()
        self.sent = sent
        self.started = time.perf_counter()
        self.subject = current_subject()
        self._observer = observer
        self._ended = False

    def end(self, outcome: str, received: str) -> None:
        if not self._ended:
            self._ended = True
            self._observer.ended(self, outcome, received)


class WatchedStream(AsyncIterator[str]):
    """A streamed reply that is noted when it ends, or is closed."""

    def __init__(self, source: Any, record: _Record) -> None:
        self._source = source
        self._record = record
        self._received: list[str] = []

    async def __anext__(self) -> str:
        outcome = FAILED
        try:
            # The body of a generator runs in whichever context asks for its next piece.
            with reported_to(self._record.usage):
                piece: str = await anext(self._source)
            outcome = ""
            self._received.append(piece)
            return piece
        except StopAsyncIteration:
            outcome = DONE
            raise
        except asyncio.CancelledError:
            outcome = CANCELLED
            raise
        finally:
            if outcome:
                self._end(outcome)

    def _end(self, outcome: str) -> None:
        # Pieces end inside words, so they are counted as one text.
        self._record.end(outcome, "".join(self._received))

    async def aclose(self) -> None:
        """Stop the reply."""
        try:
            close = getattr(self._source, "aclose", None)
            if close is not None:
                await close()
        finally:
            self._end(CANCELLED)


def watched(
    func: Callable[..., Awaitable[Any]], observer: CallObserver, sent: Callable[[dict[str, Any]], Sequence[str]]
) -> Callable[..., Awaitable[Any]]:
    """Return a function whose every call is watched.

    Args:
        func: Called by keyword.
        observer: Watches it.
        sent: Returns the texts among the keyword arguments.
    """

    async def call(**kwargs: Any) -> Any:
        return await observer.watch(func(**kwargs), sent(kwargs))

    return call
