"""Log lines on standard error and in a file, as text or JSON, with the ids of their request and of their subject."""

from __future__ import annotations

import json
import logging
import sys
from collections import OrderedDict
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from lightrag.api.middleware import request_id
from lightrag.runtime.subjects import current_subject

if TYPE_CHECKING:
    from lightrag.runtime.events import DocumentEvent
    from lightrag.settings_api import ObservationSettings

_OURS = ("lightrag", "uvicorn", "uvicorn.error")
_SUBJECTS = ("document_id", "track_id", "query_id")
_FIELDS = ("method", "path", "status", "seconds", *_SUBJECTS)
_MOST_REMEMBERED = 10_000


class RequestOrigins:
    """Which request stored the documents of a track id; of the last ones, for as long as the process lives."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, str] = OrderedDict()

    def note(self, track_id: str) -> None:
        """Remember the request that is being served as the one that brought a track id."""
        request = request_id.get()
        if request != "-" and track_id not in self._requests:
            self._requests[track_id] = request
            while len(self._requests) > _MOST_REMEMBERED:
                self._requests.popitem(last=False)

    def request_of(self, track_id: str) -> str:
        """Return the id of the request, ``-`` when it is not known."""
        return self._requests.get(track_id, "-")


origins = RequestOrigins()


def note_origin(event: DocumentEvent) -> None:
    """Remember which request brought a document, for the lines of the log that are about it."""
    origins.note(event.track_id)


class RequestIdFilter(logging.Filter):
    """Puts into every line the id of the request that caused it, and the ids of what is being worked on."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the ids; nothing is left out."""
        subject = current_subject()
        for name in _SUBJECTS:
            if getattr(subject, name) and not hasattr(record, name):
                setattr(record, name, getattr(subject, name))
        request = request_id.get()
        record.request_id = request if request != "-" else origins.request_of(getattr(record, "track_id", ""))
        return True


class PlainStartFilter(logging.Filter):
    """Makes one line of what keeps the server from starting, where the engine says it in words of its own."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the traceback that the server is told of; nothing is left out."""
        text = record.getMessage()
        if text.startswith("Traceback "):
            # The type stands at the beginning of a line; the message may have several.
            name, _, message = text.rpartition("\nlightrag.exceptions.")[2].partition(": ")
            if name.isidentifier():
                record.msg, record.args = message.rstrip(), ()
        return True


class TextFormatter(logging.Formatter):
    """One line of text, with the ids of request and document where they are known."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        ids = [getattr(record, name, "") for name in ("request_id", "document_id")]
        record.ids = " ".join(one for one in ids if one and one != "-") or "-"
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, request_id, and what the line brings besides.

    That is ``document_id``, ``track_id`` and ``query_id`` where they are known, and of a request ``method``, ``path``,
    ``status`` and ``seconds``.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": getattr(record, "request_id", "-"),
        }
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configure_logging(settings: ObservationSettings) -> None:
    """Send the lines of server and engine to standard error, and to ``lightrag.log`` in ``log_dir`` if it is set.

    Raises:
        OSError: The folder of the log cannot be written to.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if settings.log_dir:
        path = Path(settings.log_dir)
        path.mkdir(parents=True, exist_ok=True)
        size, kept = settings.log_max_bytes, settings.log_backup_count
        handlers.append(
            RotatingFileHandler(path / "lightrag.log", maxBytes=size, backupCount=kept, encoding="utf-8", delay=False)
        )
    text = TextFormatter("%(asctime)s %(levelname)s %(name)s [%(ids)s] %(message)s")
    for handler in handlers:
        handler.addFilter(RequestIdFilter())
        if settings.log_level != "DEBUG":
            handler.addFilter(PlainStartFilter())
        handler.setFormatter(JsonFormatter() if settings.log_format == "json" else text)
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.handlers = [] if name == "uvicorn.error" else list(handlers)
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(settings.log_level)
