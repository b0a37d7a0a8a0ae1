"""What handlers ask for, as annotated parameters; all of it comes from the one state of the server.

All of them are coroutines, because plain functions would each be sent to a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer

from lightrag.api.auth import Access, Caller
from lightrag.api.background import Background
from lightrag.api.errors import ApiError
from lightrag.api.files import InputFolder
from lightrag.api.intake import Intake
from lightrag.api.metrics import Metrics
from lightrag.api.scan import Scans
from lightrag.api.state import ServerState
from lightrag.engine.restricted import RestrictedEngine
from lightrag.lightrag import LightRAG
from lightrag.settings_api import ApiSettings

# Only so that the OpenAPI document names the schemes; the decision is that of Access.
_key_scheme = APIKeyHeader(name="X-API-Key", auto_error=False, description="The key of LIGHTRAG_API_KEY.")
_token_scheme = HTTPBearer(auto_error=False, description="A token of POST /login, or the API key.")


async def server_state(request: Request) -> ServerState:
    """Return the state of the server."""
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(server_state)]
_KeyHeader = Annotated[str | None, Security(_key_scheme)]
_TokenHeader = Annotated[object, Security(_token_scheme)]


async def authenticated(request: Request, state: State, _key: _KeyHeader, _token: _TokenHeader) -> Caller:
    """Return who sends the request.

    Raises:
        ApiError: 401 or 403.
    """
    return state.access.decide(request)


async def verified(request: Request, state: State, _key: _KeyHeader, _token: _TokenHeader) -> Caller:
    """As :func:`authenticated`, on open paths too."""
    return state.access.decide(request, heed_open_paths=False)


class GuardedRoute(APIRoute):
    """A route that refuses strangers before their body is read: parameters are, before dependencies are asked."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with the guard before it."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            state: ServerState = request.app.state.server
            state.access.decide(request)
            return await handle(request)

        return guarded


CallerDep = Annotated[Caller, Depends(authenticated)]


async def _engine(state: State, caller: CallerDep) -> LightRAG | RestrictedEngine:
    return state.engine_for(caller)


async def _whole_engine(state: State, caller: CallerDep) -> LightRAG:
    if caller.policy is not None and caller.policy.limits_documents:
        raise ApiError(403, "this concerns the documents of all, and your access is limited to some", "access_denied")
    return state.engine


async def _settings(state: State) -> ApiSettings:
    return state.settings


async def _access(state: State) -> Access:
    return state.access


async def _background(state: State) -> Background:
    return state.background


async def _inputs(state: State) -> InputFolder:
    return state.inputs


async def _intake(state: State, caller: CallerDep) -> Intake:
    engine = state.engine_for(caller)
    return state.intake if isinstance(engine, LightRAG) else state.intake.seen_by(engine, caller.policy)


async def _scans(state: State) -> Scans:
    return state.scans


async def _metrics(state: State) -> Metrics:
    return state.metrics


Authenticated = Depends(authenticated)
Verified = Annotated[Caller, Depends(verified)]
# The engine as the caller may see it; and the whole one, which only those without limits on documents get.
EngineDep = Annotated[LightRAG | RestrictedEngine, Depends(_engine)]
WholeEngineDep = Annotated[LightRAG, Depends(_whole_engine)]
WholeCorpus = Depends(_whole_engine)
SettingsDep = Annotated[ApiSettings, Depends(_settings)]
AccessDep = Annotated[Access, Depends(_access)]
BackgroundDep = Annotated[Background, Depends(_background)]
InputsDep = Annotated[InputFolder, Depends(_inputs)]
IntakeDep = Annotated[Intake, Depends(_intake)]
ScansDep = Annotated[Scans, Depends(_scans)]
MetricsDep = Annotated[Metrics, Depends(_metrics)]
