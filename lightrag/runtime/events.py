"""What an engine tells those who listen: documents, chunks, merges, queries and model calls.

A listener is called inside the event loop that does the work, right after it, in the order of the events. What it
raises goes to the loop's exception handler and never to the work. Without listeners nothing is built and nothing runs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from inspect import isawaitable
from typing import Any, ClassVar

from lightrag.exceptions import InputError

ALL_EVENTS = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened.

    Attributes:
        name: Its kind, by which listeners choose.
        at: When, seconds since 1970.
    """

    name: ClassVar[str] = ""
    at: float = field(default_factory=time.time)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it: ``{"event": name, ...}``."""
        return {"event": self.name, **asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineEvent(Event):
    """The pipeline began, went on or ended.

    Attributes:
        busy: Whether it runs.
        job: What it does, in words.
        documents: Documents that the run knows so far.
        finished: Documents that are through, failed ones included.
    """

    name: ClassVar[str] = "pipeline"
    busy: bool
    job: str
    documents: int
    finished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEvent(Event):
    """A document came into another state.

    Attributes:
        document_id: The document.
        track_id: The call that enqueued it; ``""`` when unknown.
        file_path: Its source.
        status: The state: ``pending``, ``parsing``, ``processing``, ``processed``, ``failed`` or ``deleted``.
        chunks: Number of its chunks; ``None`` before it was cut.
        error: Why it failed; ``""`` when it did not.
    """

    name: ClassVar[str] = "document"
    document_id: str
    track_id: str
    file_path: str
    status: str
    chunks: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkEvent(Event):
    """Entities and relations of a chunk are known.

    Attributes:
        document_id: Its document.
        track_id: The call that enqueued it.
        chunk_id: The chunk.
        position: Which of the chunks of the document it is, from 1; they come in any order.
        total: Chunks of the document.
        entities: Entities found in it.
        relations: Relations found in it.
    """

    name: ClassVar[str] = "chunk"
    document_id: str
    track_id: str
    chunk_id: str
    position: int
    total: int
    entities: int
    relations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeEvent(Event):
    """Documents were merged into the graph, and are visible.

    Attributes:
        document_ids: The documents.
        track_ids: The calls that enqueued them, each once.
        evidence: Mentions of entities and relations that were merged.
        seconds: How long it took.
    """

    name: ClassVar[str] = "merge"
    document_ids: tuple[str, ...]
    track_ids: tuple[str, ...]
    evidence: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEvent(Event):
    """A query began, came to a step that takes time, or ended.

    Attributes:
        query_id: Tells one query from another in this process.
        mode: Its mode.
        step: ``started``; a step, such as ``retrieving_chunks``; ``finished`` or ``failed``. An answer that streams
            is still being read after ``finished``.
        seconds: Since it began.
    """

    name: ClassVar[str] = "query"
    query_id: str
    mode: str
    step: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEvent(Event):
    """A model was called; several attempts are one call.

    Attributes:
        role: ``extract``, ``keyword``, ``query``, ``embedding`` or ``rerank``.
        outcome: ``done``, ``failed`` or ``cancelled``.
        seconds: How long it took, waiting for a slot included.
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens received.
        estimated: Whether the provider did not tell the tokens.
        document_id: The document it was for; ``""`` when it was for several or none.
        track_id: The call that enqueued the document.
        query_id: The query it was for.
    """

    name: ClassVar[str] = "model"
    role: str
    outcome: str
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    estimated: bool
    document_id: str = ""
    track_id: str = ""
    query_id: str = ""


EVENTS: dict[str, type[Event]] = {
    kind.name: kind for kind in (PipelineEvent, DocumentEvent, ChunkEvent, MergeEvent, QueryEvent, ModelEvent)
}

Listener = Callable[[Any], Awaitable[None] | None]


class Events:
    """Listeners of one engine."""

    def __init__(self) -> None:
        self._listeners: dict[type[Event], tuple[Listener, ...]] = {}
        # A task that nobody holds may be collected before it ends.
        self._tasks: set[asyncio.Future[None]] = set()

    def on(self, name: str, listener: Listener) -> Callable[[], None]:
        """Listen to a kind of events.

        Args:
            name: One of :data:`EVENTS`, or ``"*"`` for all.
            listener: Called with each event; may be an async function.

        Returns:
            A function that ends it.

        Raises:
            InputError: There is no such kind.
        """
        if name != ALL_EVENTS and name not in EVENTS:
            raise InputError(f"{name!r} is not an event; events are {', '.join(EVENTS)}, and {ALL_EVENTS!r} for all")
        kinds = list(EVENTS.values()) if name == ALL_EVENTS else [EVENTS[name]]
        # A box of its own, so that a listener that was added twice ends once at a time.
        box: list[Listener] = [listener]

        def call(event: Any) -> Awaitable[None] | None:
            return box[0](event) if box else None

        for kind in kinds:
            self._listeners[kind] = (*self._listeners.get(kind, ()), call)

        def end() -> None:
            box.clear()
            for kind in kinds:
                rest = tuple(one for one in self._listeners.get(kind, ()) if one is not call)
                if rest:
                    self._listeners[kind] = rest
                else:
                    self._listeners.pop(kind, None)

        return end

    def wants(self, kind: type[Event]) -> bool:
        """Tell whether anybody listens; ask before building an event."""
        return kind in self._listeners

    def emit(self, event: Event) -> None:
        """Hand an event to its listeners, after what is being done now. Call it inside an event loop."""
        loop = asyncio.get_running_loop()
        for listener in self._listeners.get(type(event), ()):
            loop.call_soon(self._deliver, listener, event)

    def _deliver(self, listener: Listener, event: Event) -> None:
        outcome = listener(event)
        if isawaitable(outcome):
            task = asyncio.ensure_future(outcome)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
