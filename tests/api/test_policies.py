"""Access policies, attacked route by route."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lightrag.api.app import create_app
from lightrag.api.policies import READING_POSTS, Policy, load_policies, matches_path
from lightrag.exceptions import InputError, ScopeError
from lightrag.settings_api import load_api_settings
from tests.api.conftest import Serve, Server

OPERATOR = {"X-API-Key": "operator-key"}
LIMITED = {"X-API-Key": "limited-key"}
READER = {"X-API-Key": "reader-key"}
SECRET = "Zerzura"
POLICIES = {
    "keys": {
        "limited-key": {"required_tags": ["team:red"]},
        "foldered-key": {"required_tags": ["team:red"], "folder": "teams/red"},
        "sha256:" + hashlib.sha256(b"reader-key").hexdigest(): {"read_only": True},
        "asker-key": {"routes": ["/query", "/api/*"]},
        "public-key": {"forbidden_tags": ["secret"]},
    },
    "users": {"ada": {"required_tags": ["team:red"]}},
}


@pytest.fixture
async def server(serve: Serve, tmp_path: Path) -> Server:
    """A corpus of two teams that share an entity; every text of the other team holds the secret word."""
    file = tmp_path / "policies.json"
    file.write_text(json.dumps(POLICIES))
    server = await serve(
        access_policies=str(file),
        lightrag_api_key="operator-key",
        auth_accounts=["ada:pw", "bob:pw"],
        token_secret="a secret of enough length",
    )
    server.client.headers["X-API-Key"] = "operator-key"
    await server.add("Hub -> Mine: The hub leads to the mine.", "red/mine.md", metadata={"tags": ["team:red"]})
    await server.add(
        f"Hub -> {SECRET}: The hub leads to {SECRET}.", f"blue/{SECRET}.md",
        metadata={"tags": ["team:blue", "secret", SECRET], "meta": {"note": SECRET}, "doc_type": SECRET},
    )  # fmt: skip
    del server.client.headers["X-API-Key"]
    return server


async def hidden_id(server: Server) -> str:
    rows = (await server.client.post("/documents/paginated", json={}, headers=OPERATOR)).json()["documents"]
    return next(row["id"] for row in rows if row["file_path"].startswith("blue/"))


def attacks(hidden: str, track_id: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Requests that would show the other team's documents to whoever may see them."""
    question = {"query": f"Where does the hub lead, to {SECRET[:4]}?", "hl_keywords": ["Hub"], "ll_keywords": ["Hub"]}
    chat = {"messages": [{"role": "user", "content": "/mixcontext where does the hub lead?"}], "stream": False}
    found: list[tuple[str, str, dict[str, Any]]] = [
        (method, path, {"json": body})
        for mode in ("local", "global", "hybrid", "naive", "mix")
        for method, path, body in (
            ("POST", "/query", {**question, "mode": mode, "only_need_context": True, "include_chunk_content": True}),
            ("POST", "/query/data", {**question, "mode": mode}),
            ("POST", "/query/stream", {**question, "mode": mode, "only_need_prompt": True, "include_progress": True}),
        )
    ]
    found += [
        ("POST", "/query/preview", {"json": {}}),
        ("POST", "/query/preview", {"json": {"date_filter": {"undated": "include_or"}}}),
        ("GET", "/documents/facets", {}),
        ("POST", "/documents/paginated", {"json": {}}),
        ("POST", "/documents/paginated", {"json": {"date_filter": {"undated": "only"}}}),
        ("GET", f"/documents/track_status/{track_id}", {}),
        ("GET", "/documents/pipeline_status", {}),
        ("GET", "/documents/status_counts", {}),
        ("GET", "/graph/label/list", {}),
        ("GET", "/graph/label/popular", {}),
        ("GET", "/graph/label/search", {"params": {"q": "z"}}),
        ("GET", "/graph/scope/list", {}),
        ("GET", "/graphs", {"params": {"label": "*"}}),
        ("GET", "/graphs", {"params": {"label": "Hub", "max_depth": 3}}),
        ("POST", "/graphs", {"json": {"label": "*"}}),
        ("POST", "/graphs", {"json": {"label": "Hub", "search_filters": {"document_ids": [hidden]}}}),
        ("POST", "/api/chat", {"json": chat}),
        ("GET", "/health", {}),
    ]
    return found


async def test_nothing_of_hidden_documents_is_shown(server: Server) -> None:
    hidden = await hidden_id(server)
    rows = (await server.client.post("/documents/paginated", json={}, headers=OPERATOR)).json()["documents"]
    track_id = next(row["track_id"] for row in rows if row["id"] == hidden)
    told_to_operator = 0
    for method, path, request in attacks(hidden, track_id):
        answer = await server.client.request(method, path, headers=LIMITED, **request)
        assert answer.status_code == 200, (path, answer.text)
        assert SECRET not in answer.text.replace(f"to {SECRET[:4]}?", ""), (path, answer.text)
        assert "blue" not in answer.text, (path, answer.text)
        shown = await server.client.request(method, path, headers=OPERATOR, **request)
        told_to_operator += SECRET in shown.text
    # The attacks are real: most of them show it to the operator.
    assert told_to_operator > 20
    allowed = (await server.client.post("/documents/paginated", json={}, headers=LIMITED)).json()
    assert [row["file_path"] for row in allowed["documents"]] == ["red/mine.md"]
    assert allowed["status_counts"]["all"] == 1
    counts = (await server.client.get("/documents/status_counts", headers=LIMITED)).json()["status_counts"]
    assert counts["processed"] == 1


async def test_cached_answers_of_others_are_not_told(server: Server) -> None:
    question = {"query": "Where does the hub lead?", "mode": "naive", "only_need_context": True}
    whole = (await server.client.post("/query", json=question, headers=OPERATOR)).json()["response"]
    assert SECRET in whole
    assert SECRET not in (await server.client.post("/query", json=question, headers=LIMITED)).text
    for headers in (OPERATOR, LIMITED):
        await server.client.post("/query", json={**question, "only_need_context": False}, headers=headers)
    assert SECRET not in server.model.calls[-1][2]


@pytest.mark.parametrize(
    ("method", "path", "request_"),
    [
        ("POST", "/query", {"json": {"query": "Where does it lead?", "required_tags": ["secret"]}}),
        ("POST", "/query", {"json": {"query": "Where does it lead?", "kg_evidence_policy": "keep_merged"}}),
    ],
)
async def test_asking_for_more_is_refused(server: Server, method: str, path: str, request_: dict[str, Any]) -> None:
    headers = {"X-API-Key": "public-key"}
    answer = await server.client.request(method, path, headers=headers, **request_)
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied"), answer.text


async def test_hidden_documents_are_not_touched(server: Server) -> None:
    hidden = await hidden_id(server)
    answer = await server.client.request(
        "DELETE", "/documents/delete_document", json={"doc_ids": [hidden]}, headers=LIMITED
    )
    assert answer.status_code == 404
    for doc_id in (hidden, "doc-of-nobody"):
        # Ids follow from paths: what is hidden must not be told from what is not there.
        for method, what in (("PATCH", "metadata"), ("POST", "retry")):
            path, body = f"/documents/{doc_id}/{what}", {"tags": ["team:red"]}
            answer = await server.client.request(method, path, json=body, headers=LIMITED)
            told = {"detail": f"document {doc_id!r} does not exist", "code": "not_found"}
            assert (answer.status_code, answer.json()) == (404, told)
    taken = {"text": "x -> y: z.", "file_source": f"blue/{SECRET}.md"}
    answer = await server.client.post("/documents/text", json=taken, headers=LIMITED)
    assert answer.status_code == 409
    assert hidden not in answer.text
    rows = (await server.client.post("/documents/paginated", json={}, headers=OPERATOR)).json()["documents"]
    assert next(row["tags"] for row in rows if row["id"] == hidden)[0] == "team:blue"


async def test_a_folder_of_their_own_keeps_names_of_others_from_being_told(server: Server) -> None:
    headers = {"X-API-Key": "foldered-key"}
    for path in (f"blue/{SECRET}.md", "blue/of-nobody.md"):
        text = {"text": f"Red -> New: ours, of {path}.", "file_source": path}
        answer = await server.client.post("/documents/text", json=text, headers=headers)
        assert answer.status_code == 200, answer.text
    file = {"file": ("../../a.md", b"Red -> Newer: ours too.")}
    assert (await server.client.post("/documents/upload", files=file, headers=headers)).status_code == 200
    await server.settle()
    rows = (await server.client.post("/documents/paginated", json={}, headers=headers)).json()["documents"]
    assert {row["file_path"] for row in rows} == {
        "red/mine.md", f"teams/red/blue/{SECRET}.md", "teams/red/blue/of-nobody.md", "teams/red/a.md"
    }  # fmt: skip
    again = await server.client.post("/documents/upload", files=file, headers=headers)
    assert again.status_code == 409


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"folder": "red"}, "folder 'red' needs required_tags or forbidden_tags beside it"),
        ({"folder": "../red", "required_tags": ["a"]}, "folder '../red' cannot be used; write one such as 'tenant-1'"),
        ({"folder": "/red", "required_tags": ["a"]}, "folder '/red' cannot be used"),
        ({"folder": "__parsed__/x", "required_tags": ["a"]}, "the folder '__parsed__' is kept for finished files"),
    ],
)
def test_a_folder_that_cannot_be_used_does_not_start(tmp_path: Path, entry: dict[str, Any], told: str) -> None:
    file = tmp_path / "policies.json"
    file.write_text(json.dumps({"keys": {"k": entry}}))
    with pytest.raises(InputError) as caught:
        load_policies(str(file))
    assert told in str(caught.value)


async def test_own_documents_carry_the_required_tags(server: Server) -> None:
    text = {"text": "Red -> New: ours.", "file_source": "red/new.md"}
    answer = await server.client.post("/documents/text", json=text, headers=LIMITED)
    assert answer.status_code == 200, answer.text
    file = {"file": ("red.md", b"Red -> Newer: ours too.")}
    assert (await server.client.post("/documents/upload", files=file, headers=LIMITED)).status_code == 200
    await server.settle()
    rows = (await server.client.post("/documents/paginated", json={}, headers=LIMITED)).json()["documents"]
    assert {row["file_path"]: row["tags"] for row in rows} == {
        name: ["team:red"] for name in ("red/mine.md", "red/new.md", "red.md")
    }
    other = {"text": "Red -> Other: theirs.", "file_source": "x.md", "metadata": {"tags": ["team:blue"]}}
    answer = await server.client.post("/documents/text", json=other, headers=LIMITED)
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")
    moved = next(row["id"] for row in rows if row["file_path"] == "red/mine.md")
    answer = await server.client.patch(f"/documents/{moved}/metadata", json={"tags": ["team:blue"]}, headers=LIMITED)
    assert answer.status_code == 403
    assert (await server.client.post(f"/documents/{moved}/retry", headers=LIMITED)).status_code == 400
    found = await server.client.post("/documents/paginated", json={"search": SECRET[:5]}, headers=LIMITED)
    assert found.json()["documents"] == []
    answer = await server.client.request(
        "DELETE", "/documents/delete_document", json={"doc_ids": [moved]}, headers=LIMITED
    )
    assert answer.json()["status"] == "deletion_started"


WHOLE = [
    ("POST", "/documents/scan"),
    ("GET", "/documents/scan/status/x"),
    ("DELETE", "/documents"),
    ("GET", "/documents/source_conflicts"),
    ("POST", "/documents/source_conflicts/repair"),
    ("POST", "/documents/reprocess_failed"),
    ("POST", "/documents/cancel_pipeline"),
    ("POST", "/documents/clear_cache"),
    ("POST", "/documents/recovery/force_reset"),
    ("POST", "/graph/entity/create"),
    ("POST", "/graph/entity/edit"),
    ("POST", "/graph/relation/create"),
    ("POST", "/graph/relation/edit"),
    ("POST", "/graph/entities/merge"),
    ("DELETE", "/graph/entity/delete"),
    ("DELETE", "/graph/relation/delete"),
    ("GET", "/metrics"),
]


@pytest.mark.parametrize(("method", "path"), WHOLE)
async def test_what_concerns_all_is_refused(server: Server, method: str, path: str) -> None:
    body = {
        "confirm": True, "entity_name": "Hub", "entity_data": {}, "updated_data": {}, "source_entity": "Hub",
        "target_entity": "Mine", "relation_data": {"description": "x"}, "source_id": "Hub", "target_id": "Mine",
        "entities_to_change": ["Hub"], "entity_to_change_into": "Mine", "canonical_source_key": "red.md",
        "primary_doc_id": "x",
    }  # fmt: skip
    schema = server.app.openapi()["paths"].get(path, {}).get(method.lower(), {})
    wanted = schema.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = wanted.get("$ref", "").rpartition("/")[2]
    fields = server.app.openapi()["components"]["schemas"].get(name, {}).get("properties", {})
    sent = {field: value for field, value in body.items() if field in fields}
    answer = await server.client.request(method, path, json=sent or None, headers=LIMITED)
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied"), answer.text


async def test_every_route_is_attacked_or_known_to_be_harmless(server: Server) -> None:
    attacked = {(method, path) for method, path, _ in attacks("h", "{track_id}")} | {
        (method, path.replace("/status/x", "/status/{track_id}")) for method, path in WHOLE
    }
    attacked |= {
        ("POST", "/documents/text"), ("POST", "/documents/upload"), ("DELETE", "/documents/delete_document"),
        ("PATCH", "/documents/{doc_id}/metadata"), ("POST", "/documents/{doc_id}/retry"),
    }  # fmt: skip
    harmless = {
        ("GET", "/auth-status"), ("POST", "/login"), ("GET", "/auth/verify"), ("GET", "/"),
        ("GET", "/ui/customization"),
        ("GET", "/ui/customization/assets/{asset_hash}/{asset_id}"), ("GET", "/documents/supported_file_types"),
        ("GET", "/api/version"), ("GET", "/api/tags"), ("GET", "/api/ps"), ("POST", "/api/generate"),
        ("POST", "/api/show"),
        # the same way in as /documents/text
        ("POST", "/documents/texts"),
        # tested by itself below
        ("GET", "/graph/entity/exists"),
    }  # fmt: skip
    routes = {(method.upper(), path) for path, methods in server.app.openapi()["paths"].items() for method in methods}
    assert routes == attacked | harmless


async def test_a_copy_of_a_hidden_document_is_an_own_document(server: Server) -> None:
    text = f"Hub -> {SECRET}: The hub leads to {SECRET}."
    hidden = await hidden_id(server)
    await server.engine.ainsert("Alone -> Nobody: known by its text.")
    sent: list[tuple[str, dict[str, Any]]] = [
        ("upload", {"files": {"file": ("copy.md", text.encode())}}),
        ("text", {"json": {"text": "Alone -> Nobody: known by its text."}}),
    ]
    for name, body in sent:
        answer = await server.client.post(f"/documents/{name}", headers=LIMITED, **body)
        assert answer.status_code == 200, answer.text
        await server.settle()
        told = await server.client.get(f"/documents/track_status/{answer.json()['track_id']}", headers=LIMITED)
        (row,) = told.json()["documents"]
        assert (row["status"], row["error_msg"]) == ("processed", None)
        assert hidden not in told.text
    # What they can see they may not repeat, and the whole is kept together as before.
    again = {"text": text, "file_source": "again.md"}
    for headers in (LIMITED, OPERATOR):
        assert (await server.client.post("/documents/text", json=again, headers=headers)).status_code == 409
    answer = await server.client.post("/documents/text", json=sent[1][1]["json"], headers=LIMITED)
    assert answer.status_code == 409
    file = {"file": ("again.md", text.encode())}
    answer = await server.client.post("/documents/upload", files=file, headers=LIMITED)
    await server.settle()
    told = await server.client.get(f"/documents/track_status/{answer.json()['track_id']}", headers=LIMITED)
    assert "the same content is already stored" in told.json()["documents"][0]["error_msg"]
    assert hidden not in told.text


async def test_how_much_of_others_is_worked_on_is_not_told(server: Server) -> None:
    told = (await server.client.get("/documents/pipeline_status", headers=LIMITED)).json()
    assert (told["docs"], told["batchs"], told["cur_batch"], told["job_start"]) == (0, 0, 0, None)
    assert (await server.client.get("/documents/pipeline_status", headers=OPERATOR)).json()["batchs"] == 1
    server.state.intake._settings = server.state.settings.model_copy(update={"max_pending_documents": 1})
    texts = {"texts": ["a -> b: c.", "d -> e: f."], "file_sources": ["a.md", "b.md"]}
    answer = await server.client.post("/documents/texts", json=texts, headers=LIMITED)
    assert (answer.status_code, answer.json()["detail"]) == (
        429, "too many documents wait to be processed; allowed are 1"
    )  # fmt: skip


async def test_a_text_does_not_take_the_file_of_somebody_else_with_it(server: Server) -> None:
    waiting = server.state.inputs.root / "drop" / "plan.md"
    waiting.parent.mkdir(parents=True)
    waiting.write_text("Hub -> Plan: not read yet.")
    text = {"text": "Red -> Plan: ours.", "file_source": "drop/plan.md"}
    assert (await server.client.post("/documents/text", json=text, headers=LIMITED)).status_code == 200
    file = {"file": ("own.md", b"Red -> Own: ours.")}
    assert (await server.client.post("/documents/upload", files=file, headers=LIMITED)).status_code == 200
    await server.settle()
    rows = (await server.client.post("/documents/paginated", json={}, headers=LIMITED)).json()["documents"]
    # Processing puts a file away by its path.
    away = server.state.inputs.root / "__parsed__"
    body = {"doc_ids": [row["id"] for row in rows], "delete_file": True}
    await server.client.request("DELETE", "/documents/delete_document", json=body, headers=LIMITED)
    await server.settle()
    assert waiting.exists() or (away / "drop" / "plan.md").exists()
    assert not (away / "own.md").exists()


async def test_existence_of_hidden_entities_is_not_told(server: Server) -> None:
    for name, expected in (("Hub", True), ("Mine", True), (SECRET, False), ("Nobody", False)):
        answer = await server.client.get("/graph/entity/exists", params={"name": name}, headers=LIMITED)
        assert answer.json() == {"exists": expected}, name


async def test_readers_change_nothing(server: Server) -> None:
    for path, methods in server.app.openapi()["paths"].items():
        for method in methods:
            answer = await server.client.request(method.upper(), path, headers=READER)
            reading = method == "get" or path in READING_POSTS
            if path in {"/login", "/auth-status", "/", "/ui/customization"} or path.startswith("/ui/"):
                continue
            assert (answer.status_code == 403) is not reading, (method, path, answer.status_code)
    assert (await server.client.get("/documents/status_counts", headers=OPERATOR)).json()["status_counts"]["all"] == 2


async def test_routes_are_limited(server: Server) -> None:
    headers = {"X-API-Key": "asker-key"}
    question = {"query": "Where does the hub lead?"}
    assert (await server.client.post("/query", json=question, headers=headers)).status_code == 200
    assert (await server.client.get("/api/tags", headers=headers)).status_code == 200
    for path in ("/query/data", "/query/stream"):
        assert (await server.client.post(path, json=question, headers=headers)).status_code == 403
    assert (await server.client.get("/graphs", params={"label": "*"}, headers=headers)).status_code == 403


async def test_users_have_their_policies(server: Server) -> None:
    async def headers(user: str) -> dict[str, str]:
        told = (await server.client.post("/login", data={"username": user, "password": "pw"})).json()
        return {"Authorization": f"Bearer {told['access_token']}"}

    ada = await headers("ada")
    assert (await server.client.get("/graph/label/list", headers=ada)).json() == ["Hub", "Mine"]
    bob = await headers("bob")
    answer = await server.client.get("/graph/label/list", headers=bob)
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")
    health = await server.client.get("/health", headers=bob)
    assert health.status_code == 200
    assert "configuration" not in health.json()


async def test_open_paths_show_what_the_default_policy_allows(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    file.write_text("default:\n  required_tags: [public]\n  read_only: true\n")
    server = await serve(access_policies=str(file), lightrag_api_key="operator-key", whitelist_paths="/graph/*,/health")
    server.client.headers["X-API-Key"] = "operator-key"
    await server.add("A -> B: public.", "a.md", metadata={"tags": ["public"]})
    await server.add("C -> D: hidden.", "c.md")
    del server.client.headers["X-API-Key"]
    assert (await server.client.get("/graph/label/list")).json() == ["A", "B"]
    assert (await server.client.post("/graph/entity/create", json={"entity_name": "X"})).status_code == 403
    assert (await server.client.get("/graphs", params={"label": "*"})).status_code == 403


async def test_open_paths_are_closed_without_a_default_policy(server: Server) -> None:
    server.state.access._open_paths = ["/graph/*", "/health"]
    assert (await server.client.get("/graph/label/list")).status_code == 401
    assert (await server.client.get("/health")).status_code == 200


def test_patterns() -> None:
    assert matches_path("/query", ["/query"])
    assert not matches_path("/query/data", ["/query"])
    assert matches_path("/query/data", ["/query/*"])
    assert matches_path("/query", ["/query/*"])
    assert not matches_path("/queryx", ["/query/*"])
    assert matches_path("/anything", ["/*"])


def test_default_policy_allows_all() -> None:
    assert not Policy().limits_documents
    Policy().check("DELETE", "/documents")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no JSON"),
        ("[]", "policies"),
        ('{"keys": {"top-secret-key": {"required_tag": ["x"]}}}', "did you mean 'required_tags'"),
        ('{"keys": {"top-secret-key": 5}}', "policies"),
        ('{"user": {}}', "did you mean 'users'"),
        ('{"keys": {"": {}}}', "empty"),
        ('{"keys": {"sha256:12": {}}}', "64 hex digits"),
        ('{"users": {"a": {"read_only": "yes"}}}', "read_only"),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "policies.json"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_policies(str(file))
    assert words in str(caught.value)
    assert "top-secret-key" not in str(caught.value)


def test_missing_file_and_none(tmp_path: Path) -> None:
    assert load_policies("") is None
    with pytest.raises(InputError, match="cannot be read"):
        load_policies(str(tmp_path / "nothing.json"))


def test_unusable_tags_and_unusable_servers_do_not_start(tmp_path: Path) -> None:
    file = tmp_path / "policies.json"
    file.write_text('{"users": {}}')
    fields = {"access_policies": str(file), "host": "127.0.0.1", "llm_binding": "openai", "input_dir": str(tmp_path)}
    with pytest.raises(InputError, match="nobody could use"):
        create_app(load_api_settings(**fields))


async def test_two_scopes_in_one_policy_do_not_start(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "policies.json"
    file.write_text('{"default": {"required_tags": ["tenant:1", "tenant:2"]}}')
    with pytest.raises(ScopeError):
        await serve(
            {"scope_tag_prefixes": ["tenant:"], "enable_kg_scope_materialization": True}, access_policies=str(file)
        )
