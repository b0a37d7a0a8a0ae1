"""What the external parsing services have in common: how they are asked, and how their failures are told apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lightrag.exceptions import InputError, ModelReplyError, ModelTimeoutError
from lightrag.parser.result import ParsedText
from lightrag.parser.text import unify_line_ends
from lightrag.runtime.model_errors import ProviderError, parse_retry_after, provider_error, redact

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

# A status that cannot be read once says nothing about the task; the service may be restarting.
_MAX_FAILED_POLLS = 3
# The file itself is what the service complains about, so that sending it again cannot help.
_FILE_STATUSES = frozenset({400, 413, 415, 422})


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Where a parsing service is, and how long it may take.

    Attributes:
        endpoint: Its address, such as ``http://localhost:5001``.
        api_key: Key that it asks for; empty for none.
        timeout: Seconds for one file, waiting in its queue included.
        poll_interval: Seconds between two questions whether a file is done.
    """

    endpoint: str
    api_key: str = field(default="", repr=False)
    timeout: float = 1800.0
    poll_interval: float = 2.0

    def __post_init__(self) -> None:
        if not self.endpoint.startswith(("http://", "https://")):
            raise InputError(f"endpoint {self.endpoint!r} of a parsing service must begin with http:// or https://")
        if self.timeout <= 0 or self.poll_interval <= 0:
            raise InputError("timeout and poll_interval of a parsing service must be more than 0 seconds")


class Service:
    """A parsing service during one file."""

    def __init__(self, name: str, options: ServiceOptions, client: AsyncClient) -> None:
        """Take what is needed; made by :func:`connect`."""
        self.name = name
        self.options = options
        self._client = client

    async def send(self, method: str, path: str, source: str, **request: Any) -> Response:
        """Send a request and return the answer if it is a success.

        Args:
            method: HTTP method.
            path: Path below the endpoint, or a whole address that the service itself gave.
            source: The file, for messages.
            request: Further arguments of the HTTP client.

        Raises:
            InputError: The service refuses the file.
            ProviderError: The service cannot be reached, or refuses the request.
            ModelTimeoutError: It does not answer in time.
        """
        import httpx

        try:
            response = await self._client.request(method, path, **request)
        except httpx.TimeoutException:
            raise ModelTimeoutError(f"{self.name} did not answer in time about {source!r}") from None
        except httpx.HTTPError as error:
            raise ProviderError(f"{self.name} at {self.options.endpoint} cannot be reached: {error}") from None
        if response.is_success:
            return response
        message = redact(response.text, self.options.api_key)
        if response.status_code in _FILE_STATUSES:
            raise InputError(f"{self.name} refuses {source!r} ({response.status_code}): {message}")
        raise provider_error(self.name, response.status_code, message, retry_after=parse_retry_after(response.headers))

    async def json(self, method: str, path: str, source: str, **request: Any) -> dict[str, Any]:
        """Send a request and return the JSON object of its answer; arguments and errors as of :meth:`send`.

        Raises:
            ModelReplyError: The answer is no JSON object.
        """
        response = await self.send(method, path, source, **request)
        try:
            answer = response.json()
        except json.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict):
            raise ModelReplyError(f"{self.name} sent no JSON object: {redact(response.text, self.options.api_key)!r}")
        return answer

    async def poll(
        self, ask: Callable[[], Awaitable[dict[str, Any]]], is_done: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        """Ask again and again until a task is done.

        Args:
            ask: Asks for the state of the task.
            is_done: Tells whether that is a final state.

        Raises:
            ProviderError: The service could not be asked several times in a row.
        """
        failed = 0
        while True:
            try:
                state = await ask()
                failed = 0
            except (ProviderError, ModelTimeoutError) as error:
                failed += 1
                if failed >= _MAX_FAILED_POLLS or getattr(error, "status_code", None) in (401, 403, 404):
                    raise
            else:
                if is_done(state):
                    return state
            await asyncio.sleep(self.options.poll_interval)


@asynccontextmanager
async def connect(name: str, options: ServiceOptions, headers: dict[str, str], source: str) -> AsyncIterator[Service]:
    """Open a connection for one file, and close it when the time for the file is over.

    Args:
        name: The service, for messages.
        options: Where it is.
        headers: Sent with every request to it, for its key.
        source: The file, for messages.

    Raises:
        ModelTimeoutError: The file took longer than the time allowed.
    """
    import httpx

    base_url = options.endpoint.rstrip("/") + "/"
    try:
        async with (
            asyncio.timeout(options.timeout),
            httpx.AsyncClient(base_url=base_url, headers=headers, timeout=options.timeout) as client,
        ):
            yield Service(name, options, client)
    except TimeoutError:
        raise ModelTimeoutError(
            f"{name} took longer than the {options.timeout:g} seconds allowed for {source!r}"
        ) from None


async def read_content(source: str, content: bytes | Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        InputError: It cannot be read.
    """
    if isinstance(content, bytes):
        return content
    try:
        return await asyncio.to_thread(content.read_bytes)
    except OSError as error:
        raise InputError(f"file {source!r} cannot be read: {error.strerror or error}") from error


def file_name(source: str) -> str:
    """Return the last part of a path: services need the suffix, and nothing else of where a file is from."""
    return PurePosixPath(source.replace("\\", "/")).name


def parsed_text(name: str, source: str, text: Any, warnings: tuple[str, ...] = ()) -> ParsedText:
    """Return the text that a service found in a file, with the warnings that belong to it.

    Raises:
        InputError: It found none.
        ModelReplyError: It sent something else than text.
    """
    if text is not None and not isinstance(text, str):
        raise ModelReplyError(f"{name} sent no text for {source!r}, but {type(text).__name__}")
    if not text or not text.strip():
        raise InputError(f"{source!r} holds no text that {name} recognises")
    return ParsedText(unify_line_ends(text), warnings, name)
