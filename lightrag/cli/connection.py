"""Requests to a server, and its errors as ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightrag.cli.errors import ServerError, one_line
from lightrag.exceptions import InputError

if TYPE_CHECKING:
    import httpx

# A model may take minutes for an answer.
READ_SECONDS = 600.0
CONNECT_SECONDS = 10.0
_MOST_WAITS = 60
_LONGEST_WAIT = 60.0


def make_client(address: str, key: str) -> httpx.AsyncClient:
    """Return a client for a server.

    Args:
        address: With or without ``http://``; may have a path.
        key: API key or login token; ``""`` for none.

    Raises:
        InputError: The address is none.
    """
    import httpx

    url = address if "://" in address else f"http://{address}"
    # A server takes a login token only as a bearer, and a key in both ways.
    headers = {"X-API-Key": key, "Authorization": f"Bearer {key}"} if key else {}
    try:
        parsed = httpx.URL(url)
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise InputError(f"--server {address!r} is no address; write it as 'http://127.0.0.1:9621'")
        return httpx.AsyncClient(
            base_url=parsed,
            headers=headers,
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            follow_redirects=False,
        )
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InputError(f"--server {address!r} is no address: {error}") from error


class Requests:
    """Requests to one server."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        """Take the client.

        Args:
            client: Open.
        """
        self._client = client

    async def get(self, path: str, asked: dict[str, Any] | None = None) -> dict[str, Any]:
        """Get a path.

        Raises:
            ServerError: The server cannot be reached or refuses.
        """
        return await self._send("GET", path, params=asked or {})

    async def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Post JSON, as :meth:`get`."""
        return await self._send("POST", path, json=body)

    async def patch(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Patch with JSON, as :meth:`get`."""
        return await self._send("PATCH", path, json=body)

    async def delete(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Delete with JSON, as :meth:`get`."""
        return await self._send("DELETE", path, json=body)

    async def upload(self, file: Path, name: str, metadata: str) -> dict[str, Any]:
        """Upload a file; where the server has too much to do, wait as long as it says.

        Args:
            file: The file.
            name: Name that it shall have there.
            metadata: JSON.

        Raises:
            ServerError: As :meth:`get`.
            InputError: The file cannot be read.
        """
        for _ in range(_MOST_WAITS):
            try:
                with file.open("rb") as source:
                    return await self._send(
                        "POST", "/documents/upload", files={"file": (name, source)}, data={"metadata": metadata}
                    )
            except OSError as error:
                raise InputError(f"file {str(file)!r} cannot be read: {error.strerror or error}") from error
            except ServerError as error:
                if error.status != 429:
                    raise
                await asyncio.sleep(min(error.retry_after, _LONGEST_WAIT))
        raise ServerError("the server has had too much to do for long; try again later", 429)

    async def lines(self, path: str, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Yield the JSON objects of a response line by line; leaving the loop makes the server stop.

        Raises:
            ServerError: As :meth:`get`.
        """
        import httpx

        try:
            async with self._client.stream("POST", path, json=body) as response:
                if response.is_error:
                    await response.aread()
                    raise _refusal(response)
                async for line in response.aiter_lines():
                    if line.strip():
                        yield json.loads(line)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        except ValueError as error:
            raise ServerError(f"the server {self._address} sent a line that is not JSON") from error

    async def _send(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        import httpx

        try:
            response = await self._client.request(method, path, **content)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise _refusal(response)
        try:
            found: dict[str, Any] = response.json()
        except ValueError as error:
            raise ServerError(f"{self._address} does not answer like a LightRAG server") from error
        return found

    @property
    def _address(self) -> str:
        return repr(str(self._client.base_url).rstrip("/"))

    def _unreachable(self, error: Exception) -> ServerError:
        reason = str(error) or type(error).__name__
        return ServerError(f"the server {self._address} cannot be reached: {reason}")


def _refusal(response: httpx.Response) -> ServerError:
    """Return the error that a response tells of."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    text = _in_words(body.get("detail")) or f"{response.request.url.path}: {response.reason_phrase}"
    error = ServerError(
        one_line(f"{text} (status {response.status_code})"), response.status_code, str(body.get("code") or "")
    )
    with suppress(ValueError):
        error.retry_after = float(response.headers.get("Retry-After", error.retry_after))
    return error


def _in_words(detail: Any) -> str:
    """Return what was wrong: a text, or a list of faults with the path of each."""
    if not isinstance(detail, list):
        return str(detail or "")
    parts = []
    for fault in detail:
        path = ".".join(str(part) for part in fault.get("loc", ()) if part not in {"body", "query"})
        parts.append(f"{path}: {fault.get('msg')}" if path else str(fault.get("msg")))
    return "; ".join(parts)
