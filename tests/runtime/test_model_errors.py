"""Which failures pass, how long to wait, and what a message may say."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from lightrag.exceptions import (
    ContextTooLongError,
    FilterSyntaxError,
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
    StorageError,
)
from lightrag.runtime.model_errors import (
    ProviderError,
    TruncatedReplyError,
    is_transient,
    parse_retry_after,
    provider_error,
    redact,
    retry_after_of,
)


class StatusError(Exception):
    """As the errors of SDKs: the status on the exception, the headers on its response."""

    def __init__(self, status: int, headers: dict[str, str] | None = None, code: str | None = None) -> None:
        super().__init__(f"status {status}")
        self.status_code = status
        self.code = code
        self.response = SimpleNamespace(status_code=status, headers=headers or {})


class APIConnectionError(Exception):
    """Named as in the OpenAI and Anthropic SDKs."""


REQUEST = httpx.Request("POST", "http://h")


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (ModelTimeoutError("late"), True),
        (httpx.ConnectError("refused"), True),
        (httpx.ReadTimeout("late"), True),
        (httpx.RemoteProtocolError("hung up"), True),
        (httpx.UnsupportedProtocol("no http://"), False),
        (httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(503)), True),
        (httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(404)), False),
        (APIConnectionError(), True),
        (StatusError(429), True),
        (StatusError(429, code="insufficient_quota"), False),
        (StatusError(408), True),
        (StatusError(500), True),
        (StatusError(529), True),
        (StatusError(501), False),
        (StatusError(400), False),
        (StatusError(401), False),
        (StatusError(403), False),
        (StatusError(404), False),
        (StatusError(422), False),
        (ProviderError("no answer"), True),
        (ProviderError("busy", status_code=503), True),
        (ProviderError("no", status_code=400), False),
        (ProviderError("broke", status_code=429, code="insufficient_quota"), False),
        (ModelReplyError("empty"), False),
        (TruncatedReplyError("cut", "ha"), False),
        (ContextTooLongError("long"), False),
        (ModelError("shut down"), False),
        (StorageError("disk"), False),
        (FilterSyntaxError("bad"), False),
        (ValueError("bug"), False),
        (KeyError("bug"), False),
    ],
)
def test_what_passes(error: Exception, transient: bool) -> None:
    assert is_transient(error) is transient


NOW = datetime(2030, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "20"}, 1.5),
        ({"retry-after": "Fri, 01 Mar 2030 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Fri, 01 Mar 2030 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (ProviderError("x", retry_after=3), 3.0),
        (StatusError(429, {"Retry-After": "4"}), 4.0),
        (httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(429, headers={"Retry-After": "5"})), 5.0),
        (StatusError(429), None),
        (ValueError("x"), None),
    ],
)
def test_who_says_how_long(error: Exception, seconds: float | None) -> None:
    assert retry_after_of(error) == seconds


@pytest.mark.parametrize(
    ("status", "message", "code", "expected"),
    [
        (400, "maximum context length is 8192 tokens", "", ContextTooLongError),
        (400, "x", "context_length_exceeded", ContextTooLongError),
        (413, "input is too long for this model", "", ContextTooLongError),
        (500, "maximum context length", "", ProviderError),
        (400, "bad request", "", ProviderError),
        (401, "no", "", ProviderError),
    ],
)
def test_answers_become_errors(status: int, message: str, code: str, expected: type[Any]) -> None:
    error = provider_error("model 'm'", status, message, code=code)
    assert type(error) is expected
    assert str(error) == f"model 'm' answered {status}: {message}"


def test_messages_hold_no_key() -> None:
    assert redact("key abc123 refused", "abc123") == "key *** refused"
    assert redact("Incorrect API key provided: sk-proj-1234********wxyz.", None) == "Incorrect API key provided: ***"
    assert redact("Authorization: Bearer abcdef") == "Authorization: Bearer ***"
    assert len(redact("x" * 10_000)) == 501
    assert redact("plain words about a skeleton and a key value", "") == "plain words about a skeleton and a key value"
