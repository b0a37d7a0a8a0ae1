"""The demo's server: left running over the demo's documents, replaced by the next run, ended on request."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from demo import run, server
from demo.__main__ import main
from tests.demo.test_run import DOCUMENTS, LIMITED, QUESTION, write

ITEM = {**LIMITED, "filter": {"required_tags": ["type:letter"]}}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A small demo of its own, and a port; its server ends with the test."""
    monkeypatch.setattr(run, "DEMO", tmp_path)
    monkeypatch.setattr(run, "WORK", tmp_path / ".work")
    write(tmp_path, DOCUMENTS, [QUESTION], [ITEM])
    metadata = {
        path: {
            "tags": ["type:letter" if path.startswith("letters") else "type:note", "known-in-chapter:01"],
            "start_date": "1934-09-29T00:00:00Z",
        }
        for path in DOCUMENTS
    }
    (tmp_path / "corpus" / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    yield free_port()
    server.stop()


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_ends_by_leaving_a_server_running(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", str(port)]) == 0
    shown = told(capsys)
    assert f"The server is running, with these documents: http://127.0.0.1:{port}" in shown
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        rows = client.post("/documents/paginated", json={"required_tags": ["type:letter"]}).json()["documents"]
        assert [row["file_path"] for row in rows] == ["letters/ferry.txt"]
        assert rows[0]["start_date"] == "1934-09-29T00:00:00Z"
        assert client.get("/graph/scope/list").json() == ["known-in-chapter:01"]

    # A second run replaces the server, and takes another port where this one has been taken meanwhile.
    assert main(["--port", str(port)]) == 0
    shown = told(capsys)
    assert "The server of an earlier run is stopped" in shown
    assert "Found 2 documents" in shown
    assert httpx.get(f"http://127.0.0.1:{port}/health").json()["status"] == "healthy"

    # What somebody has uploaded in the meantime is cited like the rest.
    added = httpx.post(
        f"http://127.0.0.1:{port}/documents/text",
        json={"text": "Nobody but Ada designed Hallowgate Bridge.", "file_source": "mine.txt"},
    )
    assert added.json()["status"] == "success"
    deadline = time.monotonic() + 30
    while httpx.get(f"http://127.0.0.1:{port}/documents/status_counts").json()["status_counts"]["processed"] < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert main(["--no-server"]) == 0
    shown = told(capsys)
    assert "The server of an earlier run is stopped.\n" in shown
    assert "] mine.txt" in shown
    assert main(["--port", str(port)]) == 0
    capsys.readouterr()

    assert main(["--stop"]) == 0
    assert "The server is stopped." in told(capsys)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/health")
    assert main(["--stop"]) == 0
    assert "There is no server to stop." in told(capsys)


def test_check_asks_the_server_and_ends_it(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        assert main(["--check", "--port", str(port)]) == 0
    assert "The server answered 1 filtered questions over HTTP, and is stopped." in told(capsys)
    assert server.stop() is False


def test_check_finds_what_is_wrong(port: int) -> None:
    assert run.main([]) == 0
    running = server.start(port)
    assert server.check(running, 2, [ITEM]) == []
    wrong = {**ITEM, "eligible": ["archive/bridge.md"], "expect_sources": ["archive/bridge.md"]}
    found = server.check(running, 3, [{**wrong, "eligible": ["archive/bridge.md", "x"]}])
    assert [line.partition(":")[0] for line in found] == ["documents by state", "letters", "letters"]
    assert "draws on {'letters/ferry.txt'}" in found[1]


def test_a_number_that_belongs_to_another_process_is_left_alone(port: int, tmp_path: Path) -> None:
    (tmp_path / ".server.json").write_text(json.dumps({"pid": os.getpid(), "port": port}), encoding="utf-8")
    assert server.stop() is False
    assert not (tmp_path / ".server.json").exists()


def test_a_server_that_does_not_start_says_why(
    port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        monkeypatch.setattr(server, "_free_port", lambda wanted: wanted)
        assert main(["--port", str(port)]) == 1
    assert "the server did not start" in capsys.readouterr().err


def test_help_and_stop_set_nothing_up(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    (tmp_path / "scripts").mkdir()
    shutil.copy(root / "scripts" / "demo.sh", tmp_path / "scripts")
    shutil.copytree(root / "demo", tmp_path / "demo", ignore=shutil.ignore_patterns("corpus", ".*"))
    (tmp_path / "bin").mkdir()
    # Without site-packages: as on a machine where nothing is installed yet.
    bare = tmp_path / "bin" / "python3"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    for option, expected in (
        ("--help", "--no-server"),
        ("-h", "--no-server"),
        ("--stop", "There is no server to stop."),
    ):
        done = subprocess.run(
            ["bash", "scripts/demo.sh", option],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
