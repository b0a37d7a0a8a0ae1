"""Routes of logins."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request

from lightrag.api.deps import State, Verified
from lightrag.api.errors import ApiError
from lightrag.api.health import server_face
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.auth import AuthStatusResponse, LoginResponse, VerifyResponse

router = APIRouter(tags=["auth"], responses={status: ERROR_RESPONSES[status] for status in (401, 403, 422, 429)})

_GUEST = "no login is needed; the token is that of a guest"


@router.get("/auth-status")
async def get_auth_status(state: State) -> AuthStatusResponse:
    """Tell whether one must log in; where nobody must, a guest's token comes with it."""
    told = {"auth_configured": bool(state.access.accounts), "auth_mode": state.access.mode, **server_face(state)}
    if not state.access.accounts:
        token = state.access.tokens.issue("guest", "guest")
        told |= {"access_token": token, "token_type": "bearer", "message": _GUEST}
    return AuthStatusResponse(**told)


@router.post("/login")
async def login(
    request: Request,
    state: State,
    username: Annotated[str, Form(description="Name of the user.", max_length=256, examples=["ada"])],
    password: Annotated[str, Form(description="Password.", max_length=1024, examples=["a password"])],
) -> LoginResponse:
    """Exchange name and password for a token."""
    access, told = state.access, {"token_type": "bearer", "auth_mode": state.access.mode, **server_face(state)}
    if not access.accounts:
        return LoginResponse(access_token=access.tokens.issue("guest", "guest"), message=_GUEST, **told)
    address = request.client.host if request.client else ""
    access.limiter.check(address, username)
    if not await access.accounts.check(username, password):
        access.limiter.failed(address, username)
        raise ApiError(401, "Incorrect credentials", "wrong_credentials")
    access.limiter.succeeded(address, username)
    return LoginResponse(access_token=access.token_for(username), **told)


@router.get("/auth/verify")
async def verify_credential(_caller: Verified) -> VerifyResponse:
    """Tell whether the credential of the request is good, also where the path would be open."""
    return VerifyResponse(status="ok")
