"""The web UI as the server hands it out: compressed, cached by name, and a plain word where it is not built."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from lightrag.api.web_ui import add_web_ui


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<p>page</p>", encoding="utf-8")
    (tmp_path / "assets" / "app-1.js").write_text("code", encoding="utf-8")
    (tmp_path / "assets" / "app-1.js.gz").write_bytes(gzip.compress(b"code"))
    return tmp_path


async def get(folder: Path | None, path: str, encoding: str) -> httpx.Response:
    app = FastAPI()
    add_web_ui(app, folder)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get(path, headers={"Accept-Encoding": encoding})


async def test_a_compressed_file_where_it_is_taken(folder: Path) -> None:
    squeezed = await get(folder, "/webui/assets/app-1.js", "gzip")
    assert squeezed.headers["content-encoding"] == "gzip"
    assert "javascript" in squeezed.headers["content-type"]
    assert squeezed.text == "code"
    plain = await get(folder, "/webui/assets/app-1.js", "identity")
    assert "content-encoding" not in plain.headers
    assert plain.text == "code"
    assert "immutable" in plain.headers["cache-control"]


async def test_the_page_is_asked_for_again(folder: Path) -> None:
    page = await get(folder, "/webui/", "gzip")
    assert page.text == "<p>page</p>"
    assert page.headers["cache-control"] == "no-cache"


async def test_nothing_built_says_how_to_build() -> None:
    page = await get(None, "/webui/", "gzip")
    assert page.status_code == 404
    assert "scripts/webui.sh" in page.text


async def test_no_way_out_of_the_folder(folder: Path) -> None:
    assert (await get(folder, "/webui/..%2f..%2fetc/passwd", "gzip")).status_code == 404
