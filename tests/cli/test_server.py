"""Commands against a real server in a process of its own, and that they print the same as on a folder."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from lightrag.cli import connection
from tests.cli.conftest import FILES, Run, Served, server, write_files

# When something happened, and what names the act of storing, differ between any two corpora.
_OF_THE_MOMENT = {"created_at", "updated_at", "track_id", "response_time"}
_NOTES_OF_PROCESSING = {"metadata"}

QUESTION = "How long does the ferry need at spring tide?"
SAME: list[list[str]] = [
    ["query", QUESTION],
    ["query", QUESTION, "--no-stream"],
    ["query", QUESTION, "--mode", "naive", "--require", "type:act", "--require", "type:letter", "--any"],
    ["query", "Which dues are owed?", "--at", "1930-06-15", "--preset", "legislation-in-force", "--zone", "UTC"],
    ["query", "Which dues are owed?", "--at", "1800-01-01"],
    ["query", QUESTION, "--mode", "bypass"],
    ["preview"],
    ["preview", "--from", "1926-03-05", "--to", "1928", "--zone", "Europe/London"],
    ["preview", "--undated", "only"],
    ["facets"],
    ["facets", "--type", "letter", "--forbid", "place:velmouth"],
    ["facets", "--filter", '{"date_filter": {"shape": "dated"}}'],
    ["documents", "list", "--sort", "file_path"],
    ["documents", "list", "--sort", "file_path", "--ascending", "--status", "processed", "--require", "type:letter"],
    ["documents", "list", "--status", "failed"],
    ["documents", "list", "--after", "2023-11-14", "--before", "2023-11-14", "--sort", "file_path", "--ids"],
    ["documents", "show", "act.md"],
    ["scopes", "list"],
    ["graph", "show", "Jonas Ketterick"],
    ["graph", "show", "*", "--nodes", "3"],
]


def settled(value: Any) -> Any:
    """Return JSON without what differs between any two corpora."""
    if isinstance(value, dict):
        notes = _NOTES_OF_PROCESSING if "content_summary" in value else set()
        return {name: settled(item) for name, item in value.items() if name not in _OF_THE_MOMENT | notes}
    return [settled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("arguments", SAME, ids=" ".join)
def test_a_server_and_a_folder_give_the_same(run: Run, store: Path, served: Served, arguments: list[str]) -> None:
    here, there = (run(*arguments, "--json", *place) for place in (("--dir", store), served.options))
    assert (here.exit_code, there.exit_code) == (0, 0), here.output + there.output
    assert settled(json.loads(there.stdout)) == settled(json.loads(here.stdout))
    here, there = (run(*arguments, *place) for place in (("--dir", store), served.options))
    assert without_moments(there) == without_moments(here)


def without_moments(result: Result) -> list[str]:
    return [line for line in result.stdout.splitlines() if not line.startswith(("Stored ", "Changed ", "Track id "))]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["documents", "show", "nothing.md"], 1),
        (["documents", "delete", "nothing.md", "--yes"], 1),
        (["graph", "show", "Ketteric"], 1),
        (["query", "What of it?", "--require", "!!!"], 2),
        (["documents", "set-metadata", "act.md", "--start", "1930", "--end", "1920"], 2),
        (["documents", "set-metadata", "act.md", "--end", "1920", "--zone", "UTC"], 2),
        (["documents", "set-metadata", "act.md", "--remove-tag", "nothing"], 1),
    ],
)
def test_a_server_and_a_folder_refuse_the_same(
    run: Run, store: Path, served: Served, arguments: list[str], code: int
) -> None:
    here, there = (run(*arguments, *place) for place in (("--dir", store), served.options))
    assert (here.exit_code, there.exit_code) == (code, code)
    # The server adds its status.
    assert there.stderr.replace(" (status 422)", "").strip().startswith(here.stderr.strip())


def test_documents_come_change_and_go(run: Run, tmp_path: Path) -> None:
    write_files(tmp_path / "files")
    with server(tmp_path) as served:
        there = served.options
        result = run("ingest", "files", "--tag", "collection:x", "--start", "1930", "--zone", "UTC", *there)
        assert result.exit_code == 0, result.output
        assert result.stdout == "4 processed.\nDates are in the zone UTC.\n"
        assert run("ingest", "files", *there).stdout == "4 already stored.\n"
        act = json.loads(run("documents", "show", "files/act.md", "--json", *there).stdout)
        assert (act["source_path"], act["tags"][0]) == ("files/act.md", "collection:x")
        assert act["modified_at"] == "2023-11-14T22:13:20+00:00"
        changed = run("documents", "set-metadata", "files/act.md", "--add-tag", "status:read", "--json", *there)
        assert json.loads(changed.stdout)["tags"] == [*act["tags"], "status:read"]
        gone = run("documents", "delete", "files/act.md", "files/note.txt", "--yes", "--json", *there)
        assert json.loads(gone.stdout)["deleted"][0] == act["id"]
        left = json.loads(run("documents", "list", "--json", "--folder", "files", *there).stdout)
        assert left["pagination"]["total_count"] == 2


def test_files_of_one_name_in_two_folders(run: Run, tmp_path: Path) -> None:
    for number, (text, _) in enumerate([FILES["note.txt"], FILES["act.md"]]):
        (tmp_path / f"part{number}").mkdir()
        (tmp_path / f"part{number}" / "README.md").write_text(text)
    with server(tmp_path) as served:
        result = run("ingest", "part0", "part1", *served.options)
        assert result.exit_code == 0, result.output
        assert result.stdout == "2 processed.\n"
        shown = json.loads(run("documents", "show", "part1/README.md", "--json", *served.options).stdout)
        assert shown["source_path"] == "part1/README.md"
        assert run("ingest", "part0", "part1", *served.options).stdout == "2 already stored.\n"


def test_a_failed_document_is_tried_again(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_bytes(b"%PDF-1.7 lying suffix \0\1")
    with server(tmp_path) as served:
        result = run("ingest", "page.md", *served.options)
        assert result.exit_code == 1
        assert "page.md: failed: " in result.stderr
        stored = tmp_path / "inputs" / "page.md"
        stored.write_text(FILES["note.txt"][0])
        retried = json.loads(run("documents", "retry", "page.md", "--json", *served.options).stdout)
        assert retried["counts"] == {"processed": 1}
        again = run("documents", "retry", *served.options)
        assert again.stdout == "There is nothing to try again.\n"


def test_a_key_is_needed_and_taken_from_option_or_setting(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(tmp_path, "--key", "open-sesame") as served:
        refused = run("documents", "list", *served.options)
        assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
        assert "API Key required (status 403)" in refused.stderr
        assert run("documents", "list", *served.options, "--key", "wrong").exit_code == 1
        assert run("documents", "list", *served.options, "--key", "open-sesame").exit_code == 0
        monkeypatch.setenv("LIGHTRAG_API_KEY", "open-sesame")
        assert run("documents", "list", *served.options).exit_code == 0


def test_serve_is_the_server(run: Run, tmp_path: Path) -> None:
    program = ("lightrag.cli", "serve", "--workspace", "mine", "--json")
    with server(tmp_path, "--key", "open-sesame", "--log-level", "INFO", program=program) as served:
        assert run("documents", "list", *served.options, "--key", "open-sesame").exit_code == 0
    assert (tmp_path / "rag_storage" / "mine").is_dir()
    logged = [json.loads(line) for line in (tmp_path / "server.log").read_text().splitlines()]
    assert logged


def test_a_server_that_is_not_there(run: Run) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        result = run("documents", "list", "--server", address)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"lightrag: the server 'http://{address}' cannot be reached: ")


class Scripted(BaseHTTPRequestHandler):
    """Answers by a script: path, then status, headers and body, each once; the last one for ever."""

    script: dict[str, list[tuple[int, dict[str, str], str]]]

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        steps = self.script[self.path.partition("?")[0]]
        status, headers, body = steps.pop(0) if len(steps) > 1 else steps[0]
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    do_GET = do_POST = _answer

    def log_message(self, format: str, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def scripted() -> Iterator[tuple[Served, type[Scripted]]]:
    handler = type("Script", (Scripted,), {"script": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        yield Served(f"http://127.0.0.1:{listening.server_address[1]}"), handler
        listening.shutdown()
        thread.join()


def test_what_is_no_lightrag_server(run: Run, scripted: tuple[Served, type[Scripted]]) -> None:
    served, handler = scripted
    handler.script["/documents/paginated"] = [(200, {}, "<html>"), (502, {}, "<html>")]
    result = run("documents", "list", *served.options)
    assert result.exit_code == 1
    assert "does not answer like a LightRAG server" in result.stderr
    result = run("documents", "list", *served.options)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "/documents/paginated: Bad Gateway (status 502)" in result.stderr


def test_an_answer_that_breaks_off(run: Run, scripted: tuple[Served, type[Scripted]]) -> None:
    served, handler = scripted
    lines = '{"references": []}\n{"response": "Three "}\n{"error": "the model is gone", "code": "model_error"}\n'
    handler.script["/query/stream"] = [(200, {}, lines)]
    result = run("query", "What of it?", *served.options)
    assert result.exit_code == 1
    assert result.stdout == "Three\n"
    assert result.stderr == "lightrag: the answer broke off: the model is gone\n"


def test_a_busy_server_is_waited_for(
    run: Run, tmp_path: Path, scripted: tuple[Served, type[Scripted]], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, handler = scripted
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(connection.asyncio, "sleep", note)
    row = {"id": "doc-1", "status": "processed", "error_msg": None, "file_path": "note.txt", "source_path": "note.txt"}
    full = (429, {"Retry-After": "7"}, '{"detail": "too many documents wait", "code": "queue_full"}')
    handler.script |= {
        "/documents/supported_file_types": [(200, {}, '{"supported_extensions": [".txt"]}')],
        "/documents/paginated": [(200, {}, '{"documents": []}')],
        "/documents/upload": [full, full, (200, {}, '{"track_id": "t1"}')],
        "/documents/track_status/t1": [(200, {}, json.dumps({"documents": [row]}))],
    }
    (tmp_path / "note.txt").write_text("x")
    result = run("ingest", "note.txt", *served.options)
    assert result.exit_code == 0, result.output
    assert result.stdout == "1 processed.\n"
    assert waits == [7.0, 7.0]
