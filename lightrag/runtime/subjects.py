"""What the running code is working on: a document, a call that enqueued it, a query.

The subject travels with the task, so that a log line or a model call deep below knows it without being told. Every
task started inside inherits it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Subject:
    """What is being worked on; ``""`` where that part is not known.

    Attributes:
        document_id: The document.
        track_id: The call that enqueued it.
        query_id: The query.
    """

    document_id: str = ""
    track_id: str = ""
    query_id: str = ""


_NOTHING = Subject()
_current: ContextVar[Subject] = ContextVar("lightrag_subject", default=_NOTHING)


def current_subject() -> Subject:
    """Return what is being worked on."""
    return _current.get()


@contextmanager
def working_on(document_id: str = "", track_id: str | None = "", query_id: str = "") -> Iterator[None]:
    """Say what the block works on."""
    token = _current.set(Subject(document_id, track_id or "", query_id))
    try:
        yield
    finally:
        _current.reset(token)


class SubjectLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger whose records carry ``document_id``, ``track_id`` and ``query_id`` where they are known."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Add the ids to ``extra``; what the caller put there wins."""
        subject = _current.get()
        if subject is not _NOTHING:
            known = {
                "document_id": subject.document_id,
                "track_id": subject.track_id,
                "query_id": subject.query_id,
            }
            given = kwargs.get("extra") or {}
            kwargs["extra"] = {**{name: value for name, value in known.items() if value}, **given}
        return msg, kwargs


def subject_logger(name: str) -> SubjectLogger:
    """Return the logger of a name, whose records carry what is being worked on."""
    return SubjectLogger(logging.getLogger(name), {})
