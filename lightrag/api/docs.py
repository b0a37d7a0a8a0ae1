"""The documentation pages, with assets of our own: they work without the network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

_ASSETS = "/static/swagger-ui"


def install_docs(app: FastAPI) -> None:
    """Serve /docs and /redoc."""
    folder = assets_folder()
    if folder is None:
        return
    app.mount(_ASSETS, StaticFiles(directory=folder), name="documentation assets")
    app.add_api_route("/docs", _swagger, include_in_schema=False, response_class=HTMLResponse)
    app.add_api_route("/redoc", _redoc, include_in_schema=False, response_class=HTMLResponse)


def assets_folder() -> Path | None:
    """Return the folder of scripts and styles, found without importing the package that brings them."""
    found = find_spec("fastapi_offline")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0]) / "static"
    return folder if folder.is_dir() else None


async def _swagger(request: Request) -> HTMLResponse:
    root = request.scope.get("root_path") or ""
    return get_swagger_ui_html(
        openapi_url=f"{root}/openapi.json",
        title=request.app.title,
        swagger_js_url=f"{root}{_ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{root}{_ASSETS}/swagger-ui.css",
        swagger_favicon_url=f"{root}{_ASSETS}/favicon.png",
        # Else the page asks a server on the internet whether this document is valid.
        swagger_ui_parameters={"validatorUrl": None},
    )


async def _redoc(request: Request) -> HTMLResponse:
    root = request.scope.get("root_path") or ""
    return get_redoc_html(
        openapi_url=f"{root}/openapi.json",
        title=request.app.title,
        redoc_js_url=f"{root}{_ASSETS}/redoc.standalone.js",
        redoc_favicon_url=f"{root}{_ASSETS}/favicon.png",
        with_google_fonts=False,
    )
