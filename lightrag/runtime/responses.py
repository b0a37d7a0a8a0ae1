"""What is refused of the responses of model servers before anybody reads them: other hosts, and bodies without end.

HTTP clients leave ``Authorization`` behind when they follow a redirect to another host, but neither the keys that
providers take in headers of their own nor the documents in the body.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from lightrag.exceptions import ModelReplyError
from lightrag.runtime.model_errors import ProviderError

# Decoded. Much more than the largest answer there is, thousands of long vectors as decimal numbers.
MAX_BODY_BYTES = 256 * 2**20


async def refuse_other_hosts(response: Any) -> None:
    """Let only redirects to the same host pass, such as those to ``https`` or to a path with a slash more.

    Args:
        response: Response of an HTTP client, before the client follows it.

    Raises:
        ProviderError: It leads to another host.
    """
    if not response.has_redirect_location:
        return
    here = response.request.url
    there = here.join(response.headers["location"])
    if there.host and there.host != here.host:
        raise ProviderError(
            f"the model server {here.host!r} redirects to another host, {there.host!r}, which is not followed; "
            "set that address itself if it is right",
            status_code=response.status_code,
        )


async def limit_body(response: Any) -> None:
    """Let the reading of a body fail when it passes :data:`MAX_BODY_BYTES`: memory is not a provider's to fill.

    Args:
        response: Response of an HTTP client, whose body has not been read yet.
    """
    read = response.aiter_bytes

    async def limited(*args: Any, **kwargs: Any) -> AsyncGenerator[bytes, None]:
        size = 0
        async for data in read(*args, **kwargs):
            size += len(data)
            if size > MAX_BODY_BYTES:
                host = response.request.url.host
                raise ModelReplyError(f"the model server {host!r} sent more than {MAX_BODY_BYTES // 2**20} MB")
            yield data

    response.aiter_bytes = limited


# For the ``event_hooks`` of an HTTP client.
RESPONSE_HOOKS: Mapping[str, list[Callable[..., Awaitable[None]]]] = {"response": [refuse_other_hosts, limit_body]}
