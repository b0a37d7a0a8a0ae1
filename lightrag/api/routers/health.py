"""Whether the server lives, and how it is set up."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from lightrag.api.deps import State
from lightrag.api.health import anonymous_health, full_health
from lightrag.api.openapi import ERROR_RESPONSES

router = APIRouter(tags=["health"])


@router.get("/health", responses={200: {"description": "The server lives."}, 401: ERROR_RESPONSES[401]})
async def get_health(request: Request, state: State) -> dict[str, Any]:
    """Tell that the server lives; whoever may use it also sees how it is set up. No store is asked."""
    caller = state.access.identify(request)
    if caller is None and not state.access.is_open:
        state.access.decide(request)
        return anonymous_health(state)
    if caller is not None and caller.policy is not None:
        return anonymous_health(state)
    return {**anonymous_health(state), **full_health(state)}
