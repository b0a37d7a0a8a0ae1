"""Start page and branding."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.conftest import Serve


@pytest.mark.parametrize(("built", "place"), [(True, "/webui/"), (False, "/docs")])
async def test_start_page(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: bool, place: str
) -> None:
    if built:
        (tmp_path / "index.html").write_text("page", encoding="utf-8")
    monkeypatch.setattr("lightrag.api.app.WEB_UI_FOLDER", tmp_path)
    server = await serve()
    answer = await server.client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (307, place)


async def test_customization(serve: Serve) -> None:
    server = await serve(webui_title="Archive", lightrag_api_key="k")
    answer = await server.client.get("/ui/customization", params={"locale": "en"})
    assert answer.json() == {"customized": False, "brand": {"title": "Archive", "description": None}}
    assert answer.headers["Cache-Control"] == "no-store"
    assert (await server.client.get("/ui/customization/assets/abc/logo.png")).status_code == 404
