"""Every route there is, one by one: closed without a credential, bound by a policy. A new one is tested unasked."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType

import pytest
from fastapi.routing import APIRoute

from lightrag.api import routers
from lightrag.api.policies import READING_POSTS
from tests.api.conftest import Serve, Server

POLICIES = {
    "keys": {
        "nothing-key": {"routes": []},
        "reader-key": {"read_only": True},
        "limited-key": {"required_tags": ["team:red"]},
    }
}
# They show nothing of documents and change nothing; a page needs them before anybody has logged in.
OPEN = {
    "GET /": "leads to the web UI",
    "GET /auth-status": "tells whether one must log in",
    "POST /login": "is where one logs in",
    "GET /health": "tells that the server lives, and the rest only to callers",
    "GET /ui/customization": "tells the title of the web UI",
    "GET /ui/customization/assets/{asset_hash}/{asset_id}": "shows pictures of the web UI",
}
# They change nothing about documents, and each caller may ask them.
UNBOUND = {*OPEN, "GET /auth/verify"}
PAGES = re.compile(r"/(docs|redoc|openapi\.json|static|webui|workspace)\b")


def modules() -> list[ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(routers.__path__)]
    return [importlib.import_module(f"lightrag.api.routers.{name}") for name in names]


def all_routes() -> list[str]:
    routes = [route for module in modules() for route in module.router.routes if isinstance(route, APIRoute)]
    return sorted(f"{method} {route.path}" for route in routes for method in route.methods or ())


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__.rpartition(".")[2])
def test_each_router_has_a_file_of_tests(module: ModuleType) -> None:
    assert (Path(__file__).parent / f"test_{module.__name__.rpartition('.')[2]}.py").is_file()


ROUTES = all_routes()
CLOSED = [name for name in ROUTES if name not in OPEN]


@pytest.fixture
async def server(serve: Serve, tmp_path: Path) -> Server:
    file = tmp_path / "policies.json"
    file.write_text(json.dumps(POLICIES))
    return await serve(access_policies=str(file), lightrag_api_key="operator-key")


async def status(server: Server, name: str, key: str = "") -> tuple[int, str]:
    method, path = name.split()
    filled = re.sub(r"\{[^}]+\}", "x", path)
    answer = await server.client.request(method, filled, headers={"X-API-Key": key} if key else {})
    return answer.status_code, answer.json()["code"] if answer.status_code >= 400 else ""


async def test_the_application_has_these_routes_and_pages_alone(server: Server) -> None:
    known = {name.split()[1] for name in ROUTES}
    own = [id(module.router) for module in modules()]
    for route in server.app.routes:
        # Depending on FastAPI's version, routes of routers stand beside the others or stay with their router.
        if hasattr(route, "original_router"):
            assert id(route.original_router) in own
        else:
            assert route.path in known or PAGES.match(route.path), route.path  # type: ignore[attr-defined]
    described = {f"{method.upper()} {path}" for path, told in server.app.openapi()["paths"].items() for method in told}
    assert described == {name.replace(":path}", "}") for name in ROUTES}


async def test_all_at_once(server: Server) -> None:
    """One server for all of them; a failure names each route that is wrong."""
    wrong: dict[str, object] = {}
    for name in CLOSED:
        told = {
            "stranger": (await status(server, name))[0] in (401, 403),
            "wrong key": await status(server, name, "wrong") == (403, "invalid_key"),
        }
        if name not in UNBOUND:
            told["no routes"] = await status(server, name, "nothing-key") == (403, "access_denied")
        if not all(told.values()):
            wrong[name] = told
    assert not wrong


@pytest.mark.parametrize("name", ROUTES)
async def test_reading_only(server: Server, name: str) -> None:
    method, path = name.split()
    code = (await status(server, name, "reader-key"))[1]
    reads = method == "GET" or path in READING_POSTS
    assert (code == "access_denied") is not reads


def test_open_routes_are_routes() -> None:
    assert set(OPEN) <= set(ROUTES)


@pytest.mark.parametrize("name", [name for name in CLOSED if name.startswith(("POST", "PATCH", "DELETE"))])
async def test_the_body_of_a_stranger_is_not_read(server: Server, name: str) -> None:
    """It could be large, and what is wrong with it is nothing to tell a stranger."""
    read: list[bytes] = []

    async def body() -> AsyncIterator[bytes]:
        for piece in (b"{", b"no JSON"):
            read.append(piece)
            yield piece

    method, path = name.split()
    for content_type in ("application/json", "multipart/form-data; boundary=x", "multipart/form-data"):
        request = server.client.build_request(
            method, re.sub(r"\{[^}]+\}", "x", path), content=body(), headers={"Content-Type": content_type}
        )
        answer = await server.client.send(request)
        assert (answer.status_code, answer.json()["code"]) == (403, "key_required"), answer.text
    assert read == []
