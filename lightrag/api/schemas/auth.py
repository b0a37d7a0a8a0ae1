"""Bodies of the login routes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from lightrag.api.schemas.base import ResponseModel


class ServerFace(ResponseModel):
    """What pages show of the server."""

    core_version: str = Field(description="Version of the engine.", examples=["1.6.0"])
    api_version: str = Field(description="Version of this interface.", examples=["0344"])
    webui_title: str | None = Field(description="Title of the web UI.", examples=["Town archive"])
    webui_description: str | None = Field(description="Line below it.", examples=["Acts, letters and newspapers"])
    ai_content_notice_enabled: bool = Field(
        description="Whether pages say that answers are made by a model.", examples=[False]
    )


class AuthStatusResponse(ServerFace):
    """Whether one must log in."""

    auth_configured: bool = Field(description="Whether there are accounts.", examples=[True])
    auth_mode: Literal["enabled", "disabled"] = Field(description="The same in a word.")
    access_token: str | None = Field(
        None, description="Token of a guest, where nobody must log in.", examples=["eyJhbGciOiJIUzI1NiJ9..."]
    )
    token_type: str | None = Field(None, description="bearer", examples=["bearer"])
    message: str | None = Field(
        None, description="In words.", examples=["no login is needed; the token is that of a guest"]
    )


class LoginResponse(ServerFace):
    """A token."""

    access_token: str = Field(description="To be sent as Authorization: Bearer.", examples=["eyJhbGciOiJIUzI1NiJ9..."])
    token_type: Literal["bearer"] = Field(description="Always bearer.")
    auth_mode: Literal["enabled", "disabled"] = Field(description="Whether there are accounts.")
    message: str | None = Field(None, description="In words, for guests.", examples=[None])


class VerifyResponse(ResponseModel):
    """The credential is good."""

    status: Literal["ok"] = Field(description="Always ok.")
