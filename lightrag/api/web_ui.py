"""The built web UI: compressed files where a browser takes them, and a plain page where nothing has been built."""

from __future__ import annotations

from mimetypes import guess_type
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_MISSING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Web UI not built</title></head>
<body><h1>The web UI is not built</h1>
<p>Install Node 20.19 or newer, run <code>scripts/webui.sh</code> in the project folder, start the server again.</p>
<p>The server works without it: its routes are described at <a href="../docs">/docs</a>.</p></body></html>"""

_FOR_EVER = "public, max-age=31536000, immutable"


class BuiltFiles(StaticFiles):
    """Files of a build, each with a ``.gz`` beside it. Names of assets change with their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, compressed where there is such a one and the client takes it."""
        response = await self._compressed(path, scope) or await super().get_response(path, scope)
        response.headers["Cache-Control"] = _FOR_EVER if path.startswith("assets/") else "no-cache"
        return response

    async def _compressed(self, path: str, scope: Scope) -> Response | None:
        if "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            return None
        full_path, stat = await anyio.to_thread.run_sync(self.lookup_path, f"{path}.gz")
        if stat is None:
            return None
        response = self.file_response(full_path, stat, scope)
        response.headers["Content-Type"] = guess_type(path)[0] or "application/octet-stream"
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Vary"] = "Accept-Encoding"
        return response


def add_web_ui(app: FastAPI, folder: Path | None) -> None:
    """Serve a build at ``/webui``; where there is none, say there how to make one."""
    if folder is not None:
        app.mount("/webui", BuiltFiles(directory=folder, html=True), name="webui")
        return

    @app.get("/webui", include_in_schema=False)
    @app.get("/webui/", include_in_schema=False)
    def web_ui_is_missing() -> HTMLResponse:
        """Say how to build the web UI."""
        return HTMLResponse(_MISSING, status_code=404)
