"""Where people land, and how pages are dressed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from lightrag.api.deps import State
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.exceptions import NotFoundError

router = APIRouter(tags=["pages"], responses={status: ERROR_RESPONSES[status] for status in (404, 422)})


@router.get("/", response_class=RedirectResponse, status_code=307)
async def redirect_to_start_page(request: Request, state: State) -> RedirectResponse:
    """Lead to the web UI, or to the documentation of the interface where there is none."""
    root = request.scope.get("root_path") or ""
    if state.web_ui is not None:
        return RedirectResponse(f"{root}/webui/", status_code=307)
    return RedirectResponse(f"{root}/docs" if state.settings.enable_api_docs else f"{root}/health", status_code=307)


@router.get("/ui/customization")
async def get_ui_customization(
    response: Response,
    state: State,
    locale: Annotated[str | None, Query(description="Language of the page.", max_length=64, examples=["en"])] = None,
) -> dict[str, Any]:
    """Return how the web UI shall look; it is not customised beyond title and description."""
    response.headers["Cache-Control"] = "no-store"
    brand = {"title": state.settings.webui_title or None, "description": state.settings.webui_description or None}
    return {"customized": False, "brand": brand}


@router.get("/ui/customization/assets/{asset_hash}/{asset_id}")
async def get_ui_customization_asset(
    asset_hash: Annotated[str, Path(description="Digest of the file.", examples=["1a2b3c4d"])],
    asset_id: Annotated[str, Path(description="Name of the file.", examples=["logo.png"])],
) -> Response:
    """Return a file of a customised web UI; there is none."""
    raise NotFoundError(f"the web UI has no file {asset_id!r}")
