"""Redirects of model servers: what goes to one host is not carried to another.

HTTP clients leave ``Authorization`` behind when they follow a redirect to another host, but neither the keys that
providers take in headers of their own nor the documents in the body.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lightrag.runtime.model_errors import ProviderError


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


# For the ``event_hooks`` of an HTTP client.
REDIRECT_HOOKS: Mapping[str, list[Callable[..., Awaitable[None]]]] = {"response": [refuse_other_hosts]}
