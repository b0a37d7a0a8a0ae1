"""The OpenAPI document: complete, stable, and the same as the committed one."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lightrag.query_filters import DATE_FILTER_PRESETS
from tests.api.conftest import Server

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "tests" / "api" / "openapi.json"

specification = importlib.util.spec_from_file_location("make_openapi", ROOT / "scripts" / "make_openapi.py")
assert specification is not None
assert specification.loader is not None
make_openapi = importlib.util.module_from_spec(specification)
specification.loader.exec_module(make_openapi)

DOCUMENT = json.loads(COMMITTED.read_text(encoding="utf-8"))

CONTRACT = """
GET /auth-status, POST /login, GET /auth/verify, GET /, GET /health, GET /ui/customization,
GET /ui/customization/assets/{asset_hash}/{asset_id},
POST /documents/upload, POST /documents/text, POST /documents/texts, POST /documents/scan,
GET /documents/scan/status/{track_id}, POST /documents/paginated, GET /documents/status_counts,
GET /documents/track_status/{track_id}, GET /documents/pipeline_status, GET /documents/supported_file_types,
POST /documents/reprocess_failed, POST /documents/cancel_pipeline, POST /documents/clear_cache, DELETE /documents,
DELETE /documents/delete_document, GET /documents/source_conflicts, POST /documents/source_conflicts/repair,
POST /documents/recovery/force_reset,
POST /query, POST /query/stream, POST /query/data,
GET /graph/label/list, GET /graph/label/popular, GET /graph/label/search, GET /graphs, GET /graph/entity/exists,
POST /graph/entity/create, POST /graph/entity/edit, POST /graph/relation/create, POST /graph/relation/edit,
POST /graph/entities/merge, DELETE /graph/entity/delete, DELETE /graph/relation/delete,
GET /api/version, GET /api/tags, GET /api/ps, POST /api/generate, POST /api/chat
"""


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_committed_document_is_what_the_script_writes() -> None:
    assert make_openapi.render() == COMMITTED.read_text(encoding="utf-8"), "run scripts/make_openapi.py"


async def test_server_tells_the_same(server: Server) -> None:
    assert (await server.client.get("/openapi.json")).json() == DOCUMENT


def test_title_and_version() -> None:
    assert (DOCUMENT["info"]["title"], DOCUMENT["info"]["version"]) == ("LightRAG Server API", "0344")


def test_every_route_of_the_contract_is_there() -> None:
    wanted = {" ".join(route.split()) for route in CONTRACT.replace("\n", " ").split(",")}
    assert wanted - {name for name, _ in operations()} == set()


def test_operation_ids_are_unique_words() -> None:
    ids = [operation["operationId"] for _, operation in operations()]
    assert len(set(ids)) == len(ids)
    assert all(name.isidentifier() for name in ids)


@pytest.mark.parametrize("name", sorted(DOCUMENT["components"]["schemas"]))
def test_every_field_is_described(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    missing = [
        field
        for field, told in schema.get("properties", {}).items()
        if not told.get("description") and "$ref" not in told
    ]
    assert not missing, f"{name}: {missing}"
    assert "Attributes:" not in schema.get("description", "")


def fields() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        for field, told in schema.get("properties", {}).items():
            yield f"{name}.{field}", told


def kinds(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a schema, or the schemas that it is one of, null left out."""
    return [kind for kind in told.get("anyOf", [told]) if kind.get("type") != "null"]


def is_of_models(told: dict[str, Any]) -> bool:
    """Tell whether a field holds an object, or a list of objects, whose fields have examples of their own."""
    return all("$ref" in kind or "$ref" in kind.get("items", {}) for kind in kinds(told))


def test_every_field_has_an_example() -> None:
    missing = [
        name for name, told in fields() if not is_of_models(told) and not {"examples", "const", "enum"} & set(told)
    ]
    assert not missing


# What a number counts or measures.
UNIT = re.compile(
    r"\b(seconds?|bytes|characters|tokens|count|hours|year|years|number|HTTP status|epoch|cosine|weight|steps)\b",
    re.IGNORECASE,
)


def test_every_number_has_a_unit() -> None:
    numbers = [
        (name, told["description"])
        for name, told in fields()
        if any(kind.get("type") in ("integer", "number") for kind in kinds(told))
    ]
    assert len(numbers) > 40
    assert not [(name, description) for name, description in numbers if not UNIT.search(description)]


def test_every_operation_and_parameter_is_described() -> None:
    for name, operation in operations():
        assert operation["description"], name
        for parameter in operation.get("parameters", []):
            assert parameter.get("description"), (name, parameter["name"])
            assert {"example", "examples"} & {*parameter, *parameter["schema"]}, (name, parameter["name"])


def test_requests_have_an_example_of_each_preset() -> None:
    for path in ("/query", "/query/stream", "/query/data", "/query/preview", "/documents/paginated", "/graphs"):
        examples = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"]
        assert set(DATE_FILTER_PRESETS) <= set(examples), path


async def test_examples_are_right(server: Server) -> None:
    await server.add()
    for path in ("/query", "/query/data", "/query/preview", "/documents/paginated", "/graphs"):
        examples = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"]
        for name, example in examples.items():
            answer = await server.client.post(path, json=example["value"])
            assert answer.status_code == 200, (path, name, answer.text)


def test_errors_have_one_body() -> None:
    for name, operation in operations():
        for status, response in operation["responses"].items():
            if status.startswith(("4", "5")):
                schema = response["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorBody"}, (name, status)


async def test_documentation_pages_need_no_network(server: Server) -> None:
    for page, script in (("/docs", "swagger-ui-bundle.js"), ("/redoc", "redoc.standalone.js")):
        answer = await server.client.get(page)
        assert answer.status_code == 200
        assert "https://" not in answer.text
        loaded = await server.client.get(f"/static/swagger-ui/{script}")
        assert loaded.status_code == 200
        assert len(loaded.content) > 100_000


async def test_documentation_can_be_off(serve: Any) -> None:
    server = await serve(enable_api_docs=False)
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert (await server.client.get(path)).status_code == 404


def test_handlers_are_short() -> None:
    for path in sorted((ROOT / "lightrag" / "api" / "routers").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                assert lines <= 25, f"{path.name}::{node.name} has {lines} lines"
