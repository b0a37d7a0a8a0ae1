"""What surrounds every request: an id and a log line, the last resort for errors, body ceilings, security headers.

Plain ASGI, so that streams pass through unbuffered and a client that goes away is noticed.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from contextvars import ContextVar
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lightrag.api.errors import ApiError, error_response, internal_error
from lightrag.api.metrics import Metrics

access_log = logging.getLogger("lightrag.access")
logger = logging.getLogger("lightrag.api")

request_id: ContextVar[str] = ContextVar("request_id", default="-")

_USABLE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_PAGES = ("/docs", "/redoc", "/webui", "/workspace", "/static", "/ui")
_PAGE_POLICY = "frame-ancestors 'self'; object-src 'none'; base-uri 'self'"
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"


def route_path(scope: Scope) -> str:
    """Return the path of a request without the prefix under which a proxy shows the server."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path") or "") or "/"


class RequestBoundary:
    """The outermost layer: names each request, logs it, counts it, and answers for errors that nobody foresaw."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Surround an application.

        Args:
            app: The application.
            metrics: Counts requests.
        """
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        name = given if _USABLE_ID.fullmatch(given) else uuid4().hex[:16]
        token = request_id.set(name)
        begin = time.perf_counter()
        status = 0

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = name
                renewed = scope.get("state", {}).get("new_token")
                if renewed:
                    headers["X-New-Token"] = renewed
            await send(message)

        try:
            await self.app(scope, receive, send_named)
        except Exception:
            # The request's boundary: one request never ends the server.
            error_id, text = internal_error()
            logger.exception("error_id %s", error_id)
            if not status:
                await error_response(500, text, "internal_error", path=route_path(scope))(scope, receive, send_named)
        finally:
            self._note(scope, status, time.perf_counter() - begin)
            request_id.reset(token)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        template = getattr(scope.get("route"), "path", "")
        self.metrics.request(scope["method"], template, status, seconds)
        access_log.info(
            "%s %s %d %.1f ms",
            scope["method"],
            route_path(scope),
            status,
            seconds * 1000,
            extra={
                "method": scope["method"],
                "path": route_path(scope),
                "status": status,
                "seconds": round(seconds, 4),
            },
        )


class BodyCeiling:
    """Refuses bodies that are too large, by what they say of themselves and by what arrives."""

    def __init__(self, app: ASGIApp, default: int, by_path: Mapping[str, int]) -> None:
        """Surround an application.

        Args:
            app: The application.
            default: Most bytes; 0 for no limit at all, on any path.
            by_path: Most bytes of single paths.
        """
        self.app = app
        self.default = default
        self.by_path = dict(by_path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not self.default:
            await self.app(scope, receive, send)
            return
        limit = self.by_path.get(route_path(scope), self.default)
        said = Headers(scope=scope).get("content-length", "")
        if said.isascii() and said.isdigit() and int(said) > limit:
            response = error_response(413, _too_large(limit), "too_large", path=route_path(scope))
            await response(scope, receive, send)
            return
        arrived = 0

        async def receive_counted() -> Message:
            nonlocal arrived
            message = await receive()
            if message["type"] == "http.request":
                arrived += len(message.get("body", b""))
                if arrived > limit:
                    raise ApiError(413, _too_large(limit), "too_large")
            return message

        await self.app(scope, receive_counted, send)


def _too_large(limit: int) -> str:
    return f"the body of the request is too large; allowed are {limit} bytes"


class SecurityHeaders:
    """Tells browsers to guess no types, to send no referrer and to embed nothing of ours elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        """Surround an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        policy = _PAGE_POLICY if route_path(scope).startswith(_PAGES) else _DATA_POLICY

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Referrer-Policy", "no-referrer")
                headers.setdefault("Content-Security-Policy", policy)
            await send(message)

        await self.app(scope, receive, send_safe)
