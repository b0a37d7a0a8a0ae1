"""A whole conversation in the shapes of the compatibility contract, as an existing client has it.

Every reply is compared with a form: exact values where the contract names them, types elsewhere. A reply may have more
fields than its form, never fewer.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.api.conftest import FACTS, Server

TRACK = re.compile(r"(upload|insert|scan)_\d{8}_\d{6}_[0-9a-f]{8}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
CHUNK = re.compile(r"doc-[0-9a-f]{32}-chunk-\d{3}")
COUNTS = dict.fromkeys(
    ("pending", "parsing", "analyzing", "processing", "preprocessed", "processed", "failed", "all"), int
)
DOCUMENT = {
    "id": re.compile(r"doc-[0-9a-f]{32}"), "content_summary": str, "content_length": int, "status": "processed",
    "created_at": TIME, "updated_at": TIME, "track_id": TRACK, "chunks_count": 1, "error_msg": None, "metadata": dict,
    "file_path": str, "start_date": None, "end_date": None, "tags": [], "meta": {},
}  # fmt: skip
ENTITY = {
    "entity_name": str, "entity_type": str, "description": str, "source_id": CHUNK, "file_path": str, "created_at": int
}  # fmt: skip
RELATION = {
    "src_id": str, "tgt_id": str, "description": str, "keywords": str, "weight": float, "source_id": CHUNK,
    "file_path": str, "created_at": int,
}  # fmt: skip
NODE = {"id": str, "labels": [str], "properties": {"entity_id": str, "entity_type": str, "description": str}}
EDGE = {
    "id": re.compile(r"\w+-\w+"), "type": "DIRECTED", "source": str, "target": str,
    "properties": {"weight": float, "description": str, "keywords": str},
}  # fmt: skip


def conform(reply: Any, form: Any, path: str = "reply") -> None:
    """Compare a reply with a form: a type, a pattern, a list of one form, a dict of forms, or an exact value."""
    if isinstance(form, type):
        assert isinstance(reply, form) and not (form is int and isinstance(reply, bool)), f"{path}: {reply!r}"  # noqa: PT018
    elif isinstance(form, re.Pattern):
        assert isinstance(reply, str), f"{path}: {reply!r}"
        assert form.fullmatch(reply), f"{path}: {reply!r}"
    elif isinstance(form, dict):
        assert isinstance(reply, dict), f"{path}: {reply!r}"
        assert not set(form) - set(reply), f"{path} lacks {set(form) - set(reply)}"
        for name, part in form.items():
            conform(reply[name], part, f"{path}.{name}")
    elif isinstance(form, list) and len(form) == 1:
        assert isinstance(reply, list), f"{path}: {reply!r}"
        assert reply, f"{path} is empty"
        for index, item in enumerate(reply):
            conform(item, form[0], f"{path}[{index}]")
    else:
        assert reply == form, f"{path}: {reply!r}"


async def expect(server: Server, call: str, form: Any, *, status: int = 200, **request: Any) -> Any:
    method, _, path = call.partition(" ")
    answer = await server.client.request(method, path, **request)
    assert answer.status_code == status, f"{call}: {answer.status_code} {answer.text}"
    conform(answer.json(), form, call)
    return answer.json()


async def test_documents(server: Server) -> None:
    inserted = {"status": "success", "message": str, "track_id": TRACK}
    await expect(server, "POST /documents/text", inserted, json={"text": FACTS, "file_source": "facts.md"})
    await expect(
        server, "POST /documents/texts", inserted,
        json={"texts": ["One -> Two: a.", "Three -> Four: b."], "file_sources": ["1.md", "2.md"]},
    )  # fmt: skip
    file = {"file": ("up.txt", b"Up -> Down: c.", "text/plain")}
    told = await expect(server, "POST /documents/upload", inserted, files=file)
    await server.settle()
    tracked = {
        "track_id": told["track_id"],
        "documents": [DOCUMENT],
        "total_count": 1,
        "status_summary": {"processed": 1},
    }
    await expect(server, f"GET /documents/track_status/{told['track_id']}", tracked)
    pages = {"page": 1, "page_size": 10, "total_count": 4, "total_pages": 1, "has_next": False, "has_prev": False}
    await expect(
        server, "POST /documents/paginated", {"documents": [DOCUMENT], "pagination": pages, "status_counts": COUNTS},
        json={"page": 1, "page_size": 10, "status_filters": ["processed"]},
    )  # fmt: skip
    await expect(server, "GET /documents/status_counts", {"status_counts": COUNTS})
    await expect(
        server, "POST /documents/text", {"detail": str}, status=409, json={"text": "x", "file_source": "facts.md"}
    )
    await expect(server, "POST /documents/text", {"detail": str}, status=400, json={"text": "x", "file_source": " "})
    await expect(
        server, "POST /documents/text", {"detail": [{"loc": list, "msg": str, "type": str}]}, status=422, json={}
    )
    await expect(server, "POST /documents/upload", {"detail": str}, status=400, files={"file": ("x.exe", b"x")})
    await expect(
        server, "GET /documents/supported_file_types", {"supported_extensions": [str], "engines": {"legacy": [str]}}
    )


async def test_pipeline(server: Server) -> None:
    scan = await expect(
        server, "POST /documents/scan", {"status": "scanning_started", "message": str, "track_id": TRACK}
    )
    await server.settle()
    await expect(
        server, f"GET /documents/scan/status/{scan['track_id']}",
        {"track_id": TRACK, "status": "completed", "counts": {}, "counters_dropped": int, "samples": {},
         "created_at": float, "updated_at": float, "version": int, "message": str},
    )  # fmt: skip
    await expect(server, "GET /documents/scan/status/none", {"detail": str}, status=404)
    await expect(
        server, "GET /documents/pipeline_status",
        {"busy": False, "job_name": str, "docs": int, "batchs": int, "cur_batch": int, "latest_message": str,
         "history_messages": list, "update_status": {}, "recovery_required": False, "recovery_kind": None,
         "recovery_message": None, "destructive_busy": False, "scanning": False, "scanning_exclusive": False,
         "pending_enqueues": 0, "cancellation_requested": False},
    )  # fmt: skip
    await expect(
        server, "POST /documents/reprocess_failed", {"status": "reprocessing_started", "message": str, "track_id": ""}
    )
    await server.settle()
    await expect(server, "POST /documents/cancel_pipeline", {"status": "not_busy", "message": str})
    await expect(server, "POST /documents/clear_cache", {"status": "success", "message": str}, json={})
    await expect(server, "DELETE /documents", {"status": "success", "message": str})
    doc_id = await server.add()
    await expect(
        server, "DELETE /documents/delete_document", {"status": "deletion_started", "message": str, "doc_id": doc_id},
        json={"doc_ids": [doc_id], "delete_file": True},
    )  # fmt: skip


async def test_questions(server: Server) -> None:
    await server.add()
    question = {"query": "Who wrote the first program for the Engine?", "mode": "mix", "top_k": 10}
    reference = {"reference_id": "1", "file_path": "facts.md", "content": None}
    await expect(
        server, "POST /query",
        {"response": str, "references": [reference], "response_time": float, "llm_generated": True}, json=question,
    )  # fmt: skip
    kinds = {"total_entities_found", "total_relations_found", "entities_after_truncation", "relations_after_truncation",
             "merged_chunks_count", "final_chunks_count"}  # fmt: skip
    await expect(
        server, "POST /query/data",
        {
            "status": "success", "message": str,
            "data": {
                "entities": [ENTITY], "relationships": [RELATION],
                "chunks": [{"reference_id": "1", "content": str, "file_path": "facts.md", "chunk_id": CHUNK}],
                "references": [{"reference_id": "1", "file_path": "facts.md"}],
            },
            "metadata": {
                "query_mode": "mix", "keywords": {"high_level": [str], "low_level": [str]},
                "processing_info": dict.fromkeys(kinds, int),
            },
        },
        json=question,
    )  # fmt: skip
    await expect(
        server, "POST /query/data",
        {"metadata": {"query_mode": "naive", "processing_info": {"total_chunks_found": 1, "final_chunks_count": 1}}},
        json={**question, "mode": "naive"},
    )  # fmt: skip
    bypass = await expect(
        server, "POST /query/data",
        {"status": "success", "data": {"entities": [], "relationships": [], "chunks": [], "references": []}},
        json={**question, "mode": "bypass"},
    )  # fmt: skip
    assert "processing_info" not in bypass["metadata"]
    failure = {"status": "failure", "message": re.compile("Validation error: .+"), "data": {}, "metadata": {}}
    await expect(server, "POST /query/data", failure, status=400, json={"query": ""})
    await expect(server, "POST /query", {"detail": [{"loc": ["body", "query"]}]}, status=422, json={"query": ""})


async def test_stream(server: Server) -> None:
    await server.add()
    body = {"query": "Who wrote the first program for the Engine?", "include_progress": True, "stream": True}
    answer = await server.client.post("/query/stream", json=body)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    kinds = [next(iter(json.loads(line))) for line in answer.text.splitlines()]
    assert re.fullmatch("(progress )+references (response )+response_time", " ".join(kinds)), kinds


async def test_graph(server: Server) -> None:
    await server.add()
    await expect(server, "GET /graph/label/list", ["Ada", "Babbage", "Engine"])
    await expect(
        server, "GET /graphs", {"nodes": [NODE], "edges": [EDGE], "is_truncated": False},
        params={"label": "*", "max_depth": 3, "max_nodes": 100},
    )  # fmt: skip
    await expect(server, "GET /graph/entity/exists", {"exists": True}, params={"name": "Ada"})
    made = {
        "status": "success",
        "message": str,
        "data": {"entity_name": "New", "source_id": "manual_creation", "graph_data": dict},
    }
    body = {"entity_name": "New", "entity_data": {"description": "d", "entity_type": "thing"}}
    await expect(server, "POST /graph/entity/create", made, json=body)
    await expect(server, "POST /graph/entity/create", {"detail": str}, status=400, json=body)
    await expect(
        server, "POST /graph/relation/create",
        {"status": "success",
         "data": {"src_entity": "Ada", "tgt_entity": "New", "source_id": "manual_creation", "graph_data": dict}},
        json={"source_entity": "New", "target_entity": "Ada", "relation_data": {"description": "d"}},
    )  # fmt: skip
    deleted = {"status": "success", "doc_id": "", "message": str, "status_code": 200}
    await expect(server, "DELETE /graph/entity/delete", deleted, json={"entity_name": "New"})
    await expect(server, "DELETE /graph/entity/delete", {"detail": str}, status=404, json={"entity_name": "New"})


async def test_ollama(server: Server) -> None:
    await server.add()
    await expect(server, "GET /api/version", {"version": "0.9.3"})
    model = {"name": "lightrag:latest", "model": "lightrag:latest", "size": 7365960935, "digest": "sha256:lightrag"}
    await expect(server, "GET /api/tags", {"models": [{**model, "modified_at": "2024-01-15T00:00:00Z"}]})
    await expect(server, "GET /api/ps", {"models": [model]})
    figures = dict.fromkeys(
        ("total_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"), int
    )
    done = {
        "model": "lightrag:latest",
        "created_at": str,
        "done": True,
        "done_reason": "stop",
        "load_duration": 0,
        **figures,
    }
    message = {"role": "assistant", "content": str, "images": None}
    body = {
        "model": "lightrag:latest",
        "messages": [{"role": "user", "content": "/local Who was Ada?"}],
        "stream": False,
    }
    await expect(server, "POST /api/chat", {**done, "message": message}, json=body)
    body["messages"] = [{"role": "assistant", "content": "x"}]
    await expect(server, "POST /api/chat", {"detail": str}, status=400, json=body)
    generate = {"model": "lightrag:latest", "prompt": "Say hello"}
    await expect(server, "POST /api/generate", {**done, "response": str, "context": []}, json=generate)
