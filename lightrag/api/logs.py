"""Log lines on standard error, as text or as JSON, each with the id of its request."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from lightrag.api.middleware import request_id

_OURS = ("lightrag", "uvicorn", "uvicorn.error")
_FIELDS = ("method", "path", "status", "seconds")


class RequestIdFilter(logging.Filter):
    """Puts the id of the request into every line that it causes."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the id; nothing is left out."""
        record.request_id = request_id.get()
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, request_id, and what the line brings besides."""

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


def configure_logging(level: str, form: str) -> None:
    """Send the lines of the server and the engine to standard error.

    Args:
        level: Least level.
        form: ``text`` or ``json``.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RequestIdFilter())
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s")
    handler.setFormatter(JsonFormatter() if form == "json" else text)
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.handlers = [] if name == "uvicorn.error" else [handler]
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(level)
