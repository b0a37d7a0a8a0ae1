"""Texts, listing, following and deleting of documents."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lightrag.exceptions import ModelError
from tests.api.conftest import FACTS, Serve, Server


async def test_text_is_stored_and_processed(server: Server) -> None:
    answer = await server.client.post("/documents/text", json={"text": FACTS, "file_source": "notes/ada.md"})
    assert answer.status_code == 200
    told = answer.json()
    assert told["status"] == "success"
    assert told["track_id"].startswith("insert_")
    await server.settle()
    status = (await server.client.get(f"/documents/track_status/{told['track_id']}")).json()
    assert status["total_count"] == 1
    assert status["status_summary"] == {"processed": 1}
    (document,) = status["documents"]
    assert document["file_path"] == "notes/ada.md"
    assert document["content_length"] == len(FACTS.strip())
    assert document["chunks_count"] == 1
    assert document["tags"] == []
    assert document["meta"] == {}


async def test_texts_share_metadata(server: Server) -> None:
    answer = await server.client.post(
        "/documents/texts",
        json={
            "texts": ["A -> B: one.", "C -> D: two."],
            "file_sources": ["a/index.md", "b/index.md"],
            "metadata": {"tags": ["Shared"], "start_date": "1931-01-01T00:00:00Z"},
        },
    )
    assert answer.status_code == 200, answer.text
    await server.settle()
    status = (await server.client.get(f"/documents/track_status/{answer.json()['track_id']}")).json()
    assert status["status_summary"] == {"processed": 2}
    assert {document["file_path"] for document in status["documents"]} == {"a/index.md", "b/index.md"}
    for document in status["documents"]:
        assert document["tags"] == ["shared"]
        assert document["start_date"] == "1931-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("text", {"text": FACTS, "file_source": "  "}, 400, "file source"),
        ("text", {"text": FACTS, "file_source": "../.."}, 400, "file source"),
        ("text", {"text": "", "file_source": "a.md"}, 422, "at least 1"),
        ("text", {"text": None, "file_source": "a.md"}, 422, "required"),
        ("text", {"txt": FACTS, "file_source": "a.md"}, 422, "did you mean 'text'"),
        ("text", {"text": FACTS, "file_source": "a.md", "metadata": {"tag": ["x"]}}, 422, "did you mean 'tags'"),
        ("text", {"text": FACTS, "file_source": "a.md", "metadata": {"tags": ["!!!"]}}, 422, "tag"),
        (
            "text",
            {"text": FACTS, "file_source": "a.md", "metadata": {"start_date": "2024-01-02T00:00:00Z",
             "end_date": "2024-01-01T00:00:00Z"}},
            422,
            "after",
        ),
        ("text", {"text": FACTS, "file_source": "a.md", "chunking": {"strategy": "magic"}}, 422, "allowed are"),
        (
            "text",
            {"text": FACTS, "file_source": "a.md", "chunking": {"params": {"chunk_size": 5}}},
            422,
            "unknown chunking parameter",
        ),
        ("texts", {"texts": [], "file_sources": []}, 422, "at least 1"),
        ("texts", {"texts": ["a", ""], "file_sources": ["a", "b"]}, 422, "texts[1] is empty"),
        ("texts", {"texts": ["a", "b"], "file_sources": []}, 400, "0 file sources"),
        ("texts", {"texts": ["a", "b"], "file_sources": ["a.md"]}, 400, "1 file sources for 2 texts"),
        ("texts", {"texts": ["a", "b"], "file_sources": ["a.md", "./a.md"]}, 400, "more than one text"),
    ],
)  # fmt: skip
async def test_refusals(server: Server, path: str, body: dict[str, Any], status: int, words: str) -> None:
    answer = await server.client.post(f"/documents/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert words in str(answer.json()["detail"])
    assert (await server.client.get("/documents/status_counts")).json()["status_counts"]["all"] == 0


async def test_text_without_a_source_is_known_by_its_content(server: Server) -> None:
    for _ in range(2):
        answer = await server.client.post("/documents/text", json={"text": FACTS})
    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    texts = await server.client.post("/documents/texts", json={"texts": ["A -> B: one.", "C -> D: two."]})
    assert texts.status_code == 200
    await server.settle()
    rows = (await server.client.post("/documents/paginated", json={"status_filter": "processed"})).json()["documents"]
    assert [row["file_path"] for row in rows] == ["unknown_source"] * 3


async def test_a_source_is_taken_once(server: Server) -> None:
    await server.add()
    answer = await server.client.post("/documents/text", json={"text": "Other.", "file_source": "./facts.md"})
    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    repeated = await server.client.post("/documents/text", json={"text": FACTS, "file_source": "other.md"})
    assert (repeated.status_code, repeated.json()["code"]) == (409, "duplicate")


async def test_number_of_texts_is_limited(serve: Serve) -> None:
    server = await serve(max_texts_per_request=1)
    body = {"texts": ["a", "b"], "file_sources": ["a.md", "b.md"]}
    answer = await server.client.post("/documents/texts", json=body)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_many_texts")


async def test_chunking_is_heeded(server: Server) -> None:
    text = "\n".join(f"Thing{i} -> Other{i}: they belong together in many ways." for i in range(20))
    chunking = {"strategy": "fixed_token", "params": {"chunk_token_size": 60, "chunk_overlap_token_size": 5}}
    doc_id = await server.add(text, chunking=chunking)
    rows = await server.engine.aget_docs_by_ids(doc_id)
    assert (rows[doc_id].chunks_count or 0) > 3


async def test_pages(server: Server) -> None:
    texts = [f"N{i} -> M{i}: fact {i}." for i in range(25)]
    await server.client.post(
        "/documents/texts", json={"texts": texts, "file_sources": [f"{i:02d}.md" for i in range(25)]}
    )
    await server.settle()
    body = {"page": 2, "page_size": 10, "sort_field": "file_path", "sort_direction": "asc"}
    told = (await server.client.post("/documents/paginated", json=body)).json()
    assert [document["file_path"] for document in told["documents"]] == [f"{i:02d}.md" for i in range(10, 20)]
    assert told["pagination"] == {
        "page": 2, "page_size": 10, "total_count": 25, "total_pages": 3, "has_next": True, "has_prev": True
    }  # fmt: skip
    assert told["status_counts"]["processed"] == 25
    assert told["status_counts"]["all"] == 25
    assert set(told["status_counts"]) == {
        "pending", "parsing", "analyzing", "processing", "preprocessed", "processed", "failed", "all"
    }  # fmt: skip
    none = (await server.client.post("/documents/paginated", json={"status_filter": "failed"})).json()
    assert none["documents"] == []
    assert none["pagination"]["total_pages"] == 0
    beyond = (await server.client.post("/documents/paginated", json={"page": 99})).json()
    assert beyond["documents"] == []
    for bad in (
        {"search": "x" * 257},
        {"page_size": 5},
        {"page_size": 201},
        {"page": 0},
        {"sort_field": "x"},
        {"status_filter": "odd"},
    ):
        assert (await server.client.post("/documents/paginated", json=bad)).status_code == 422, bad


@pytest.fixture
async def dated(server: Server) -> Server:
    """Four documents: an act of the 1930s, a letter of the 1930s, an act of today, an undated letter."""
    for name, metadata in {
        "acts/1.md": {"tags": ["type:act"], "start_date": "1930-01-01T00:00:00Z", "end_date": "1939-12-31T23:59:59Z"},
        "letters/1.md": {"tags": ["type:letter"], "start_date": "1931-05-01T00:00:00Z"},
        "acts/2.md": {"tags": ["type:act", "new"], "start_date": "2020-01-01T00:00:00Z"},
        "letters/2.md": {"tags": ["type:letter"]},
    }.items():
        await server.add(
            f"{name.replace('/', ' ')} -> Paper: written.", name, metadata={**metadata, "source_path": name}
        )
    return server


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, {"acts/1.md", "acts/2.md", "letters/1.md", "letters/2.md"}),
        ({"required_tags": ["type:act"]}, {"acts/1.md", "acts/2.md"}),
        ({"required_tags": ["Type:Act", "new"]}, {"acts/2.md"}),
        ({"required_tags": ["new", "type:letter"], "required_tags_mode": "or"},
         {"acts/2.md", "letters/1.md", "letters/2.md"}),
        ({"forbidden_tags": ["type:act"]}, {"letters/1.md", "letters/2.md"}),
        ({"path_prefixes": ["letters"]}, {"letters/1.md", "letters/2.md"}),
        ({"date_filter": {"undated": "only"}}, {"letters/2.md"}),
        ({"date_filter": {"shape": "bounded"}}, {"acts/1.md"}),
        ({"date_filter": {"range": {"start": "1935-01-01T00:00:00Z", "end": "1935-12-31T00:00:00Z"}}},
         {"acts/1.md", "letters/1.md"}),
        ({"date_filter": {"range": {"end": "1900-01-01T00:00:00Z"}}}, set()),
    ],
)  # fmt: skip
async def test_listing_preview_and_facets_agree_with_a_filter(
    dated: Server, limits: dict[str, Any], expected: set[str]
) -> None:
    told = (await dated.client.post("/documents/paginated", json=limits)).json()
    assert {document["file_path"] for document in told["documents"]} == expected
    assert told["pagination"]["total_count"] == len(expected)
    preview = (await dated.client.post("/query/preview", json=limits)).json()
    assert preview["eligible_documents"] == len(expected)
    assert preview["total_documents"] == 4
    assert preview["active"] is bool(limits)
    assert {example["file_path"] for example in preview["examples"]} == expected
    import json

    facets = (await dated.client.get("/documents/facets", params={"filter": json.dumps(limits)})).json()
    assert facets["documents"] == len(expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"search": "LETTERS/"}, ["letters/1.md", "letters/2.md"]),
        ({"search": " new "}, ["acts/2.md"]),
        ({"search": "type:act", "required_tags": ["new"]}, ["acts/2.md"]),
        ({"search": "crown grant"}, ["letters/2.md"]),
        ({"search": "ACTS", "status_filter": "processed"}, ["acts/1.md", "acts/2.md"]),
        ({"search": "-> paper", "status_filter": "failed"}, []),
        ({"search": "nowhere"}, []),
        ({"search": "  "}, ["acts/1.md", "acts/2.md", "letters/1.md", "letters/2.md"]),
    ],
)  # fmt: skip
async def test_documents_are_found_by_name_title_tag_and_beginning(
    dated: Server, body: dict[str, Any], expected: list[str]
) -> None:
    listed = (await dated.client.post("/documents/paginated", json={"search": "letters/2"})).json()["documents"]
    await dated.client.patch(f"/documents/{listed[0]['id']}/metadata", json={"meta": {"title": "The Crown Grant"}})
    order = {"sort_field": "file_path", "sort_direction": "asc"}
    told = (await dated.client.post("/documents/paginated", json={**order, **body})).json()
    assert [document["file_path"] for document in told["documents"]] == expected
    assert told["pagination"]["total_count"] == len(expected)


async def test_facets(dated: Server) -> None:
    told = (await dated.client.get("/documents/facets")).json()
    assert told["tags"] == {"type": {"act": 2, "letter": 2}, "": {"new": 1}}
    assert told["folders"] == {"acts": 2, "letters": 2}
    assert told["undated"] == 1
    assert sum(bar["documents"] for bar in told["histogram"]) >= 3
    params = [("required_tags", "type:act"), ("forbidden_tags", "new")]
    assert (await dated.client.get("/documents/facets", params=params)).json()["documents"] == 1
    assert (await dated.client.get("/documents/facets", params={"required_tag": "x"})).status_code == 422
    assert (await dated.client.get("/documents/facets", params={"filter": "{"})).status_code == 422
    assert (await dated.client.get("/documents/facets", params={"required_tags": " "})).status_code == 422


async def test_metadata_is_changed(dated: Server) -> None:
    listed = (await dated.client.post("/documents/paginated", json={"path_prefixes": ["letters"]})).json()["documents"]
    doc_id = next(one["id"] for one in listed if one["file_path"] == "letters/2.md")
    patch = {"start_date": "1935-06-01T00:00:00+02:00", "tags": ["Type:Letter", "found"], "doc_type": None}
    answer = await dated.client.patch(f"/documents/{doc_id}/metadata", json=patch)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["start_date"], told["tags"]) == ("1935-06-01T00:00:00+02:00", ["type:letter", "found"])
    assert told["source_path"] == "letters/2.md"
    preview = (await dated.client.post("/query/preview", json={"required_tags": ["found"]})).json()
    assert preview["eligible_documents"] == 1
    cleared = await dated.client.patch(f"/documents/{doc_id}/metadata", json={"start_date": None})
    assert cleared.json()["start_date"] is None
    assert cleared.json()["tags"] == ["type:letter", "found"]


@pytest.mark.parametrize(
    ("patch", "status"),
    [
        ({"tag": []}, 422),
        ({"start_date": "1935"}, 422),
        ({"tags": ["!!!"]}, 422),
        ({"start_date": "1936-01-01T00:00:00Z", "end_date": "1935-01-01T00:00:00Z"}, 422),
        ([], 422),
    ],
)
async def test_changes_of_metadata_are_checked(server: Server, patch: Any, status: int) -> None:
    doc_id = await server.add(metadata={"tags": ["kept"]})
    answer = await server.client.patch(f"/documents/{doc_id}/metadata", json=patch)
    assert answer.status_code == status, answer.text
    (document,) = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    assert (document["tags"], document["start_date"]) == (["kept"], None)


async def test_metadata_of_unknown_documents(server: Server) -> None:
    answer = await server.client.patch("/documents/doc-unknown/metadata", json={"tags": ["x"]})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_track_status_of_an_unknown_id_is_empty(server: Server) -> None:
    told = await server.client.get("/documents/track_status/insert_nothing")
    assert told.status_code == 200
    assert told.json() == {"track_id": "insert_nothing", "documents": [], "total_count": 0, "status_summary": {}}
    assert (await server.client.get("/documents/track_status/%20")).status_code == 400


async def delete(server: Server, **body: Any) -> Any:
    return await server.client.request("DELETE", "/documents/delete_document", json=body)


async def test_deletion(server: Server) -> None:
    first = await server.add()
    second = await server.add("Grace -> Compiler: Grace wrote it.", "grace.md")
    answer = await delete(server, doc_ids=[first, "doc-unknown"])
    assert answer.status_code == 200
    told = answer.json()
    assert told["status"] == "deletion_started"
    assert told["doc_id"] == f"{first}, doc-unknown"
    assert "'doc-unknown'" in told["message"]
    await server.settle()
    left = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    assert [document["id"] for document in left] == [second]
    assert (await server.client.get("/graph/label/list")).json() == ["Compiler", "Grace"]
    again = await delete(server, doc_ids=[first])
    assert (again.status_code, again.json()["code"]) == (404, "not_found")


async def test_deletion_takes_the_file_if_asked(server: Server) -> None:
    file = ("file", ("a.md", FACTS.encode(), "text/markdown"))
    await server.client.post("/documents/upload", files=[file])
    await server.settle()
    archived = server.state.inputs.root / "__parsed__" / "a.md"
    assert archived.exists()
    (document,) = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    await delete(server, doc_ids=[document["id"]], delete_file=True)
    await server.settle()
    assert not archived.exists()


async def test_deleting_a_repetition_leaves_the_file_of_what_it_repeats(server: Server) -> None:
    await server.client.post("/documents/upload", files=[("file", ("a.md", FACTS.encode(), "text/markdown"))])
    await server.settle()
    archived = server.state.inputs.root / "__parsed__" / "a.md"
    track_id = await server.engine.ainsert(FACTS, file_paths="a.md")
    (repetition,) = await server.engine.aget_docs_by_track_id(track_id)
    assert repetition.startswith("dup-")
    await delete(server, doc_ids=[repetition], delete_file=True)
    await server.settle()
    assert archived.exists()
    (left,) = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    assert (left["file_path"], left["status"]) == ("a.md", "processed")


async def test_a_document_that_cannot_be_deleted_does_not_keep_the_others(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [await server.add(f"Hub -> {name}: x", f"{name}.md") for name in ("First", "Second")]
    delete_one = server.engine.adelete_by_doc_id

    async def fails_for_the_first(doc_id: str, **options: Any) -> Any:
        if doc_id == ids[0]:
            raise ModelError("no description could be made")
        return await delete_one(doc_id, **options)

    monkeypatch.setattr(server.engine, "adelete_by_doc_id", fails_for_the_first)
    assert (await delete(server, doc_ids=ids)).json()["status"] == "deletion_started"
    await server.settle()
    left = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    assert [document["id"] for document in left] == [ids[0]]


async def test_deletion_leaves_a_file_of_the_same_name_that_arrives_meanwhile(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc_id = await server.add("Hub -> Old: x", "a.md")
    delete_one = server.engine.adelete_by_doc_id
    written, uploads = asyncio.Event(), []
    goes_on = asyncio.Event()
    enqueue = server.state.intake._enqueue_file

    async def when_it_is_there(*arguments: Any) -> Any:
        written.set()
        await goes_on.wait()
        return await enqueue(*arguments)

    async def deleted_while_one_arrives(doc_id: str, **options: Any) -> Any:
        result = await delete_one(doc_id, **options)
        file = {"file": ("a.md", b"Hub -> New: y")}
        uploads.append(asyncio.create_task(server.client.post("/documents/upload", files=file)))
        await written.wait()
        return result

    monkeypatch.setattr(server.engine, "adelete_by_doc_id", deleted_while_one_arrives)
    monkeypatch.setattr(server.state.intake, "_enqueue_file", when_it_is_there)
    await delete(server, doc_ids=[doc_id], delete_file=True)
    await written.wait()
    await asyncio.sleep(0.1)
    goes_on.set()
    assert (await uploads[0]).status_code == 200
    await server.settle()
    (row,) = (await server.client.post("/documents/paginated", json={})).json()["documents"]
    assert (row["file_path"], row["status"]) == ("a.md", "processed")
    assert (await server.client.get("/graph/label/list")).json() == ["Hub", "New"]


async def test_deletion_waits_for_nobody(server: Server) -> None:
    server.engine._state.begin("processing documents")
    try:
        assert (await delete(server, doc_ids=["x"])).json()["status"] == "busy"
        assert (await server.client.delete("/documents")).json()["status"] == "busy"
    finally:
        server.engine._state.end()


@pytest.mark.parametrize("body", [{"doc_ids": []}, {"doc_ids": ["a", "a"]}, {"doc_ids": [" "]}, {}, {"ids": ["a"]}])
async def test_deletion_refuses(server: Server, body: dict[str, Any]) -> None:
    assert (await delete(server, **body)).status_code == 422


async def test_clearing(server: Server) -> None:
    await server.add()
    root = server.state.inputs.root
    (root / "__parsed__").mkdir(parents=True)
    (root / "waiting.md").write_text("x")
    (root / "__parsed__" / "kept.md").write_text("x")
    question = {"query": "Who wrote the program?", "mode": "naive"}
    before = (await server.client.post("/query", json=question)).json()
    assert before["references"]
    told = (await server.client.delete("/documents")).json()
    assert told["status"] == "success", told
    assert (await server.client.get("/documents/status_counts")).json()["status_counts"]["all"] == 0
    assert (await server.client.get("/graph/label/list")).json() == []
    assert not (root / "waiting.md").exists()
    assert (root / "__parsed__" / "kept.md").exists()
    after = (await server.client.post("/query", json=question)).json()
    assert after["references"] == []
    assert after["llm_generated"] is False
    await server.add()


async def test_documents_are_not_taken_while_others_are_deleted(server: Server) -> None:
    server.engine._state.destructive_busy = True
    answer = await server.client.post("/documents/text", json={"text": "x", "file_source": "a.md"})
    assert (answer.status_code, answer.json()["code"]) == (409, "pipeline_busy")
    assert (await server.client.post("/documents/scan")).json()["status"] == "scanning_skipped_pipeline_busy"


async def test_supported_types(server: Server) -> None:
    answer = await server.client.get("/documents/supported_file_types")
    assert answer.headers["Cache-Control"] == "no-store"
    assert {".md", ".txt"} <= set(answer.json()["supported_extensions"])
    assert answer.json()["engines"]["legacy"] == answer.json()["supported_extensions"]
    assert set(answer.json()["engines"]) == {"legacy", "native"}


async def test_many_small_texts_of_many_clients_are_all_there_once(server: Server) -> None:
    async def client(number: int) -> list[int]:
        statuses = []
        for item in range(5):
            text = f"Node{number} -> Leaf{number}x{item}: grown."
            body = {"text": text, "file_source": f"{number}/{item}.md"}
            statuses.append((await server.client.post("/documents/text", json=body)).status_code)
        return statuses

    answers = await asyncio.gather(*(client(number) for number in range(10)))
    assert {status for statuses in answers for status in statuses} == {200}
    await server.settle(60)
    counts = (await server.client.get("/documents/status_counts")).json()["status_counts"]
    assert counts["processed"] == counts["all"] == 50


async def test_metadata_of_a_document_whose_id_is_a_path(server: Server) -> None:
    await server.engine.ainsert("A -> B: one.", ids="letters/a.md", file_paths="letters/a.md")
    for doc_id in ("letters/a.md", "letters%2Fa.md"):
        answer = await server.client.patch(f"/documents/{doc_id}/metadata", json={"tags": ["x"]})
        assert (answer.status_code, answer.json()["tags"]) == (200, ["x"]), answer.text
    assert (await server.client.patch("/documents/a/b.md/metadata", json={"tags": ["x"]})).status_code == 404
