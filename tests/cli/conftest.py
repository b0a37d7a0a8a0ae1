"""The command on a folder in this process, as a process of its own, and against a real server."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from lightrag.cli.app import app
from lightrag.settings_api import environment_names
from tests.api.test_process import free_port

SERVER = ("lightrag.api.lightrag_server",)

LETTER = (
    "Ottoline Brandreth wrote to Jonas Ketterick on 2 March 1926. She had drawn a swing bridge for the River Vellan, "
    "and asked him how fast the ferry crossed at spring tide.\n"
)
REPLY = (
    "Jonas Ketterick answered Ottoline Brandreth. The ferry needs eleven minutes at spring tide, he wrote, and a "
    "bridge would take his living away.\n"
)
ACT = (
    "The Velmouth Harbour Act of 1928 sets the dues. Every ship in Velmouth owes the Harbour Commissioners three pence "
    "for each ton that it lands.\n"
)
NOTE = "The tide lamp of Velmouth burns colza oil. Edith Marrow trimmed the tide lamp every evening.\n"

FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "letter.md": (
        LETTER,
        {
            "start_date": "1926-03-02T00:00:00Z",
            "end_date": "1926-03-02T23:59:59.999Z",
            "tags": ["type:letter", "place:velmouth"],
            "doc_type": "letter",
            "meta": {"box": "14"},
        },
    ),
    "reply.md": (REPLY, {"start_date": "1926-03-09T00:00:00Z", "end_date": "1926-03-09T23:59:59.999Z",
                         "tags": ["type:letter"], "doc_type": "letter"}),
    "act.md": (ACT, {"start_date": "1928-04-01T00:00:00+01:00", "tags": ["type:act", "place:velmouth"],
                     "doc_type": "act"}),
    "note.txt": (NOTE, {}),
}  # fmt: skip
"""Texts by name, each with what stands in its metadata file."""


IN_ORDER = {"MAX_PARALLEL_INSERT": "1"}
"""One document after another: what entities are told to be follows the order in which documents were read."""


def write_files(folder: Path) -> Path:
    """Write the files with their metadata files, all of the same time, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (text, metadata) in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
        if metadata:
            (folder / f"{name}.meta.json").write_text(json.dumps(metadata), encoding="utf-8")
    return folder


def clean_environment() -> dict[str, str]:
    """Return the environment without settings of ours."""
    return {name: value for name, value in os.environ.items() if name.upper() not in environment_names()}


def command(*arguments: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a process."""
    return subprocess.run(
        [sys.executable, "-m", "lightrag.cli", *map(str, arguments)],
        cwd=folder,
        env={**clean_environment(), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@dataclass(frozen=True)
class Served:
    """A server that holds the files.

    Attributes:
        address: Where it listens.
        options: Options that lead a command to it.
    """

    address: str

    @property
    def options(self) -> tuple[str, str]:
        return ("--server", self.address)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Run every test in a folder of its own, without settings, and give the logging back that a command takes."""
    monkeypatch.chdir(tmp_path)
    for name in environment_names():
        monkeypatch.delenv(name, raising=False)
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    for handler in list(root.handlers):
        root.removeHandler(handler)
    for handler in handlers:
        root.addHandler(handler)


Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Return a function that runs a command line in this process."""

    def invoke(*arguments: object, **options: Any) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    return invoke


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files."""
    return write_files(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="session")
def store(source: Path) -> Path:
    """A folder with a corpus of the files. Not to be changed."""
    done = command("ingest", ".", "--dir", "../store-of-all", folder=source, **IN_ORDER)
    assert done.returncode == 0, done.stderr
    return source.parent / "store-of-all"


@pytest.fixture(scope="session")
def served(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a corpus of the files. Not to be changed."""
    with server(tmp_path_factory.mktemp("server"), **IN_ORDER) as found:
        done = command("ingest", ".", *found.options, folder=source)
        assert done.returncode == 0, done.stderr
        yield found


@contextmanager
def server(folder: Path, *arguments: str, program: tuple[str, ...] = SERVER, **environment: str) -> Iterator[Served]:
    """Run a real server in a process of its own for the length of the block."""
    port = free_port()
    command_line = [sys.executable, "-m", *program, "--host", "127.0.0.1", "--port", str(port), *arguments]
    with process(command_line, port, folder, {**clean_environment(), **environment}):
        yield Served(f"http://127.0.0.1:{port}")


@contextmanager
def process(
    command_line: list[str], port: int, folder: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    log = (folder / "server.log").open("ab")
    running = subprocess.Popen(command_line, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not answers(port):
            assert running.poll() is None, (folder / "server.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield running
    finally:
        running.terminate()
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        log.close()


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=5).status_code == 200
    except httpx.TransportError:
        return False
