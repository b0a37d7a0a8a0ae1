"""Listeners: who is told, in which order, and that nothing they do disturbs the work."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lightrag.exceptions import InputError
from lightrag.runtime.events import EVENTS, DocumentEvent, Events, PipelineEvent


def pipeline(finished: int = 0) -> PipelineEvent:
    return PipelineEvent(busy=True, job="test", documents=2, finished=finished)


def document() -> DocumentEvent:
    return DocumentEvent(document_id="doc-1", track_id="t", file_path="a.md", status="processed", chunks=2)


async def test_listeners_hear_their_kind_in_order() -> None:
    events, heard = Events(), []
    events.on("pipeline", heard.append)
    for number in range(3):
        events.emit(pipeline(number))
    events.emit(document())
    assert heard == [], "a listener runs after what is being done, not in the middle of it"
    await asyncio.sleep(0)
    assert [event.finished for event in heard] == [0, 1, 2]


async def test_one_listener_for_all_kinds() -> None:
    events, heard = Events(), []
    events.on("*", heard.append)
    assert all(events.wants(kind) for kind in EVENTS.values())
    events.emit(pipeline())
    events.emit(document())
    await asyncio.sleep(0)
    assert [event.name for event in heard] == ["pipeline", "document"]


async def test_an_ended_listener_hears_nothing_more_not_even_what_is_on_its_way() -> None:
    events, heard = Events(), []
    end = events.on("document", heard.append)
    end_other = events.on("document", heard.append)
    events.emit(document())
    end()
    await asyncio.sleep(0)
    assert len(heard) == 1
    assert events.wants(DocumentEvent)
    end_other()
    end_other()
    assert not events.wants(DocumentEvent)


async def test_async_listeners_are_awaited() -> None:
    events, heard = Events(), asyncio.Event()

    async def listen(event: Any) -> None:
        await asyncio.sleep(0)
        heard.set()

    events.on("document", listen)
    events.emit(document())
    await asyncio.wait_for(heard.wait(), 1)


async def test_a_failing_listener_reaches_the_loop_and_not_the_work() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))
    events, heard = Events(), []

    def fail(event: Any) -> None:
        raise RuntimeError("mine")

    events.on("document", fail)
    events.on("document", heard.append)
    events.emit(document())
    await asyncio.sleep(0)
    assert len(heard) == 1
    assert [str(context["exception"]) for context in told] == ["mine"]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="'documents' is not an event; events are pipeline, document"):
        Events().on("documents", print)


def test_an_event_is_json() -> None:
    shown = json.loads(json.dumps(document().to_dict()))
    assert shown.pop("at") > 1_700_000_000
    assert shown == {
        "event": "document",
        "document_id": "doc-1",
        "track_id": "t",
        "file_path": "a.md",
        "status": "processed",
        "chunks": 2,
        "error": "",
    }
