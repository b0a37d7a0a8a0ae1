"""Failures of model providers: what is known about them, whether another try can help, and when.

A function that a user wrote may raise anything, so the judgement looks at what an exception carries, not only
at its
class: a ``status_code``, a ``response`` with headers, or the name that HTTP libraries give their connection
errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from lightrag.exceptions import (
    ContextTooLongError,
    InputError,
    LightRAGError,
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
)

_MAX_MESSAGE_CHARS = 500
_MAX_REDACTED_CHARS = 50_000
# Base classes of connection failures in httpx and the SDKs built on it; they are not imported for this.
_CONNECTION_ERROR_NAMES = frozenset({"TransportError", "APIConnectionError"})
_HOPELESS_ERROR_NAMES = frozenset({"UnsupportedProtocol", "LocalProtocolError"})
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# A provider says so with 429, but no waiting helps.
_HOPELESS_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|jina|co)[-_][\w*.\-]{6,}|(?<=Bearer )\S+", re.IGNORECASE)
_CONTEXT_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too many tokens|(?:prompt|input) is too long",
    re.IGNORECASE,
)


class ProviderError(ModelError):
    """A provider could not be reached, or refused.

    Attributes:
        status_code: HTTP status; ``None`` when no answer came at all.
        code: The provider's own word for it, such as ``"insufficient_quota"``; ``""`` when it has none.
        retry_after: Seconds that the provider asks to wait; ``None`` when it says nothing.
    """

    def __init__(
        self,
        message: str,
        *,
        status_code: int | None = None,
        code: str = "",
        retry_after: float | None = None,
    ) -> None:
        """Describe a failure; the message is for people and holds no key."""
        super().__init__(message)
        self.status_code = status_code
        self.code = code
        self.retry_after = retry_after


class TruncatedReplyError(ModelReplyError):
    """A reply ended because its length limit was reached, not because it was complete.

    Attributes:
        reply: What came before the cut.
    """

    def __init__(self, message: str, reply: str) -> None:
        """Keep the part that came."""
        super().__init__(message)
        self.reply = reply


def redact(message: str, *secrets: str | None) -> str:
    """Return a provider's message, shortened and without keys: some repeat the key that they refuse."""
    # An error page can be megabytes; what is looked at is much more than what is shown, so that no key is cut in two.
    message = message[:_MAX_REDACTED_CHARS]
    for secret in secrets:
        if secret:
            message = message.replace(secret, "***")
    message = _KEY_LIKE.sub("***", message)
    return message if len(message) <= _MAX_MESSAGE_CHARS else message[:_MAX_MESSAGE_CHARS] + "…"


def unreachable(source: str, error: Exception, secret: str | None) -> ProviderError:
    """Return the error of a server that no answer came from, with its address where the HTTP client tells.

    Args:
        source: Names the model, as the start of the message.
        error: What the HTTP client, or a library over it, raised.
        secret: Key, which the message may hold.
    """
    reason = redact(str(error.__cause__ or error), secret)
    # A library may have hidden the client's error behind one of its own, which knows no address.
    place = _place(error) or _place(error.__context__)
    return ProviderError(f"{source} cannot be reached{place}: {reason}")


def _place(error: BaseException | None) -> str:
    try:
        url = urlsplit(str(error.request.url))  # type: ignore[union-attr]
        port = f":{url.port}" if url.port else ""
    except (AttributeError, RuntimeError, ValueError):
        # The client had no request yet, or the address is none.
        return ""
    # A user and a password may stand before the host, and keys behind the path.
    return f" at {url.scheme}://{url.hostname}{port}" if url.hostname else ""


def provider_error(
    source: str,
    status_code: int,
    message: str,
    *,
    code: str = "",
    retry_after: float | None = None,
) -> ModelError:
    """Return the error for an HTTP answer that is not a success.

    Args:
        source: Names the model and the place, as the start of the message.
        status_code: HTTP status.
        message: The provider's words, already redacted.
        code: The provider's own code.
        retry_after: Seconds to wait, as the provider asked.
    """
    text = f"{source} answered {status_code}: {message.strip() or 'no message'}"
    too_long = code == "context_length_exceeded" or _CONTEXT_TOO_LONG.search(message) is not None
    if too_long and status_code in (400, 413, 422):
        return ContextTooLongError(text)
    return ProviderError(text, status_code=status_code, code=code, retry_after=retry_after)


def refuse_told_error(source: str, error: Any, secret: str | None) -> None:
    """Raise the error that a server sends as an answer with status 200, as gateways do when a model behind them fails.

    Args:
        source: Names the model, as the start of the message.
        error: Field ``error`` of the answer: a text, or an object with ``message`` and ``code``; ``None`` for none.
        secret: Key, which an error may hold.

    Raises:
        ContextTooLongError: A text is too long for the model.
        ProviderError: There is an error.
    """
    if not error:
        return
    told: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": error}
    message, code = redact(str(told.get("message") or error), secret), told.get("code")
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600:
        raise provider_error(source, code, message)
    raise ProviderError(f"{source} failed: {message}", code=code if isinstance(code, str) else "")


def status_code_of(error: BaseException) -> int | None:
    """Return the HTTP status that an exception carries, itself or in its ``response``."""
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int) and not isinstance(status, bool) and status > 0:
            return status
    return None


def parse_retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that response headers ask to wait.

    ``Retry-After`` in seconds or as an HTTP date (RFC 9110, 10.2.3), or ``retry-after-ms`` as some providers
    send.

    Args:
        headers: Response headers, looked up in lower case.
        now: Aware current time; ``None`` for the clock.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) and number >= 0 else None


def retry_after_of(error: BaseException) -> float | None:
    """Return the seconds that an exception says to wait, itself or in the headers of its ``response``."""
    own: Any = getattr(error, "retry_after", None)
    if isinstance(own, int | float) and isfinite(own) and own >= 0:
        return float(own)
    headers = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    return parse_retry_after({str(name).lower(): value for name, value in headers.items()})


def is_timeout(error: BaseException) -> bool:
    """Tell whether an exception means that no reply came in time."""
    return isinstance(error, ModelTimeoutError | TimeoutError)


def is_transient(error: BaseException) -> bool:
    """Tell whether the same call may succeed a little later.

    Connection failures, time-outs, rate limits (429) and failures of the server (5xx) may; a refused request
    (4xx), an exhausted quota and a reply that cannot be used do not.
    """
    if isinstance(error, InputError | ModelReplyError | ContextTooLongError):
        return False
    if is_timeout(error) or isinstance(error, ConnectionError):
        return True
    if getattr(error, "code", None) in _HOPELESS_CODES:
        return False
    status = status_code_of(error)
    if status is not None:
        return status in _TRANSIENT_STATUS
    if isinstance(error, LightRAGError):
        return isinstance(error, ProviderError)
    names = {cls.__name__ for cls in type(error).__mro__}
    return bool(names & _CONNECTION_ERROR_NAMES) and not names & _HOPELESS_ERROR_NAMES
