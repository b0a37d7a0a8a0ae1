"""Post JSON to a model service and read its JSON answer, with errors that say what can be done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.exceptions import ModelReplyError, ModelTimeoutError
from lightrag.runtime.clients import ClientPool
from lightrag.runtime.model_errors import parse_retry_after, provider_error, redact, unreachable
from lightrag.runtime.responses import RESPONSE_HOOKS

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

DEFAULT_TIMEOUT = 30.0


@dataclass(frozen=True)
class Service:
    """Where requests go, and how they prove that they may.

    Attributes:
        url: Whole address of the route.
        api_key: Key; ``None`` for none.
        timeout: Seconds that an answer may take.
        key_header: Header that carries the key; as a bearer token in ``Authorization``, bare in any other.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = DEFAULT_TIMEOUT
    key_header: str = "Authorization"

    def headers(self) -> dict[str, str]:
        """Return the headers that carry the key."""
        if not self.api_key:
            return {}
        value = f"Bearer {self.api_key}" if self.key_header == "Authorization" else self.api_key
        return {self.key_header: value}


def _build_client(timeout: float) -> AsyncClient:
    import httpx

    return httpx.AsyncClient(timeout=timeout, event_hooks=RESPONSE_HOOKS)


async def _close_client(client: AsyncClient) -> None:
    await client.aclose()


http_clients: ClientPool[float, AsyncClient] = ClientPool(_build_client, _close_client)


async def post_json(source: str, service: Service, body: Mapping[str, Any]) -> Any:
    """Post a request and return the answer.

    Args:
        source: Names the model, as the start of messages.
        service: Where to.
        body: The request.

    Raises:
        ModelReplyError: The answer is not JSON.
        ContextTooLongError: A text is too long for the model.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    async with http_clients.lease(service.timeout) as client:
        with translated_errors(source, service.api_key):
            response = await client.post(service.url, json=body, headers=service.headers())
    return read_json(source, response, service.api_key)


@contextmanager
def translated_errors(source: str, secret: str | None) -> Iterator[None]:
    """Raise errors of the connection as errors of the model.

    Args:
        source: Names the model, as the start of messages.
        secret: Key, which an error may hold.

    Raises:
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached.
    """
    import httpx

    try:
        yield
    except httpx.TimeoutException:
        raise ModelTimeoutError(f"{source} did not answer in time") from None
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise unreachable(source, error, secret) from None


def refuse_errors(source: str, response: Response, secret: str | None) -> None:
    """Raise what a server that refused has said.

    Raises:
        ContextTooLongError: A text is too long for the model.
        ProviderError: The server refused.
    """
    if not response.is_success:
        retry_after = parse_retry_after(response.headers)
        raise provider_error(source, response.status_code, redact(response.text, secret), retry_after=retry_after)


def read_json(source: str, response: Response, secret: str | None) -> Any:
    """Return the JSON of an answer.

    Args:
        source: Names the model, as the start of messages.
        response: The answer, read to its end.
        secret: Key, which some servers repeat.

    Raises:
        ModelReplyError: It is not JSON.
        ContextTooLongError: A text is too long for the model.
        ProviderError: The server refused.
    """
    refuse_errors(source, response, secret)
    try:
        return response.json()
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelReplyError(f"{source} sent something that is not JSON: {error}") from error
