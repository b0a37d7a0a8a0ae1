"""The real command as a process: how it starts, ends, and is interrupted."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import lightrag
from lightrag.cli import main
from lightrag.cli.app import _one_line_hook
from tests.cli.conftest import FILES, clean_environment, command, write_files

HEAVY = ("fastapi", "httpx", "kreuzberg", "networkx", "numpy", "onnxruntime", "openai", "pydantic", "pydantic_settings")


def test_the_console_script_is_the_command() -> None:
    (found,) = entry_points(group="console_scripts", name="lightrag")
    assert found.load() is main


def test_help_is_quick_and_shows_every_command(tmp_path: Path) -> None:
    command("--help", folder=tmp_path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = command("--help", folder=tmp_path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # What the processor spent: the machine may be busy with other tests.
    spent = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    assert spent < 0.5
    assert done.returncode == 0
    for name in (
        "serve",
        "ingest",
        "query",
        "preview",
        "facets",
        "documents",
        "scopes",
        "graph",
        "check",
        "migrate",
        "export",
    ):
        assert re.search(rf"^│ {name} ", done.stdout, re.MULTILINE), name


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys, json; from lightrag.cli.app import app; from typer.testing import CliRunner; "
        "print(CliRunner().invoke(app, ['--help']).exit_code); print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    code, modules = done.stdout.splitlines()
    assert code == "0"
    loaded = {name.partition(".")[0] for name in json.loads(modules)}
    assert loaded.isdisjoint(HEAVY), sorted(loaded & set(HEAVY))


@pytest.mark.parametrize(
    "arguments",
    ["ingest", "query", "preview", "facets", "documents list", "documents show", "documents set-metadata",
     "documents delete", "documents retry", "scopes list", "scopes rebuild", "graph show", "check", "migrate", "export",
     "serve"],
)  # fmt: skip
def test_every_command_explains_itself_by_examples_that_it_understands(arguments: str, tmp_path: Path) -> None:
    done = command(*arguments.split(), "--help", folder=tmp_path, COLUMNS="400")
    assert done.returncode == 0
    assert "--json" in done.stdout
    assert "\x1b" not in done.stdout
    shown = re.findall(r"^ \$ lightrag (.+?) *$", done.stdout, re.MULTILINE)
    assert shown
    assert all(example.startswith(arguments) for example in shown)
    options = set(re.findall(r"(?<!\S)--?[a-zA-Z][\w-]*", " ".join(shown)))
    served = {"--llm-binding"} if arguments == "serve" else set()
    assert all(re.search(rf"│.*(?<![\w-]){option}(?![\w-])", done.stdout) for option in options - served), options


def test_version(tmp_path: Path) -> None:
    assert command("--version", folder=tmp_path).stdout == f"lightrag {lightrag.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["preview"], 0),
        (["documents", "show", "nothing"], 1),
        (["preview", "--at", "soon"], 2),
        (["nothing"], 2),
        (["documents"], 2),
    ],
)
def test_exit_codes(arguments: list[str], code: int, store: Path) -> None:
    place = ["--dir", str(store)] if len(arguments) > 1 or arguments == ["preview"] else []
    done = command(*arguments, *place, folder=store)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (1 if code else 0)


@pytest.mark.parametrize(
    ("variables", "told"), [({"LLM_BINDING": "oracle"}, "'oracle' is not a binding"), ({"TOP_K": "many"}, "top_k")]
)
def test_settings_that_cannot_be_used(variables: dict[str, str], told: str, store: Path) -> None:
    done = command("preview", "--dir", store, folder=store, **variables)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_damaged_corpus_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "rag_storage").mkdir()
    (tmp_path / "rag_storage" / "lightrag.sqlite").write_bytes(b"no database" * 1000)
    done = command("preview", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "lightrag.sqlite" in done.stderr


def test_an_error_that_nobody_foresaw_is_told_in_one_line(tmp_path: Path) -> None:
    program = (
        "import sys; sys.argv = ['lightrag', 'preview']; from lightrag.cli.commands import query; "
        "query.work_on = lambda *_, **__: 1 // 0; from lightrag.cli import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "unexpected ZeroDivisionError in " in done.stderr


def test_output_that_finds_no_room_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    error = OSError(errno.ENOSPC, "No space left on device")
    _one_line_hook(OSError, error, None)
    assert capsys.readouterr().err == "lightrag: no room left to write: No space left on device\n"


@pytest.mark.parametrize(
    ("missing", "extra"),
    [
        (
            "import importlib.util as util; found = util.find_spec; "
            "util.find_spec = lambda name, *more: None if name == 'typer' else found(name, *more)",
            "cli",
        ),
        ("sys.modules['fastapi'] = None; sys.argv = ['lightrag', 'serve']", "api"),
    ],
    ids=["command", "serve"],
)
def test_a_missing_package_is_named_with_its_extra(missing: str, extra: str, tmp_path: Path) -> None:
    program = f"import sys; {missing}; from lightrag.cli import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert f"pip install 'lightrag-hku[{extra}]'" in done.stderr


def test_no_colour_and_no_width_in_a_pipe(store: Path) -> None:
    done = command("query", "How long does the ferry need at spring tide?", "--dir", store, folder=store, COLUMNS="20")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert re.search(r"^ *\d+ +\*? +reply\.md", done.stdout, re.MULTILINE)


def test_colour_and_bars_on_a_terminal(tmp_path: Path) -> None:
    write_files(tmp_path)
    code, shown = on_a_terminal(tmp_path, "ingest", "note.txt")
    assert code == 0
    assert "Processing" in shown
    assert "━" in shown
    assert shown.rstrip().endswith("1 processed.")
    code, shown = on_a_terminal(tmp_path, "documents", "list")
    assert "\x1b[1m" in shown


@pytest.mark.parametrize(
    ("typed", "code", "told"),
    [(b"n\n", 1, "nothing was deleted"), (b"\x03", 130, "interrupted"), (b"y\n", 0, "is deleted")],
)
def test_deleting_is_asked_for_on_a_terminal(typed: bytes, code: int, told: str, tmp_path: Path) -> None:
    write_files(tmp_path)
    assert command("ingest", "note.txt", folder=tmp_path).returncode == 0
    found, shown = on_a_terminal(tmp_path, "documents", "delete", "note.txt", typed=typed)
    assert (found, told in shown) == (code, True), shown
    assert "Delete note.txt?" in shown
    left = json.loads(command("documents", "list", "--json", folder=tmp_path).stdout)["pagination"]["total_count"]
    assert left == (0 if code == 0 else 1)


def on_a_terminal(folder: Path, *arguments: str, typed: bytes = b"") -> tuple[int, str]:
    """Run the command with a terminal, and return exit code and what was shown."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "lightrag.cli", *arguments],
        cwd=folder,
        env={**clean_environment(), "TERM": "xterm-256color", "COLUMNS": "80"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=take_terminal,
    )
    os.close(theirs)
    shown = b""
    # The terminal is gone with the process.
    with suppress(OSError):
        while True:
            heard = bool(select.select([ours], [], [], 2.0)[0])
            part = os.read(ours, 65536) if heard else b""
            shown += part
            if typed and b"[y/N]" in shown and (b"[y/N]" in part or not heard):
                # Again after a silence: Python sees Ctrl-C only after the line if it came just before the wait for it.
                os.write(ours, typed)
            if heard and not part:
                break
    os.close(ours)
    return running.wait(60), shown.decode()


def take_terminal() -> None:
    """Make standard input the terminal whose keys, Ctrl-C among them, concern this process."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_reader_that_has_seen_enough(store: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "lightrag.cli", "facets", "--dir", str(store)],
        cwd=store,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    told = running.stderr.read()
    running.stderr.close()
    running.wait(60)
    assert "Traceback" not in told
    assert told.count("\n") <= 1


def test_verbose_tells_what_happens(tmp_path: Path) -> None:
    write_files(tmp_path)
    quiet = command("ingest", "note.txt", folder=tmp_path)
    assert "warning" not in quiet.stderr
    told = command("ingest", "act.md", "--verbose", folder=tmp_path)
    assert "warning: the offline reader is used" in told.stderr


def test_interrupted_ingest_leaves_nothing_half_done_and_goes_on(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for number in range(24):
        text = f"Page {number}. Person{number} Smith{number} met Ottoline Brandreth in Velmouth. "
        (files / f"{number:02}.md").write_text(text * 4)
    running = subprocess.Popen(
        [sys.executable, "-m", "lightrag.cli", "ingest", "files", "--json"],
        cwd=tmp_path,
        # Documents are merged two by two, so that some are done while most are not.
        env={**clean_environment(), "MAX_PARALLEL_INSERT": "1", "QUEUE_SIZE_INSERT": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not processed(tmp_path):
        assert running.poll() is None
        assert time.monotonic() < deadline
    running.send_signal(signal.SIGINT)
    told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told[0] == ""
    assert re.fullmatch(
        r"lightrag: interrupted; \d+ of 24 documents are processed, the others wait; .* to go on\n", told[1]
    )
    assert json.loads(command("check", "--json", folder=tmp_path).stdout) == {"found": [], "left": []}
    counts = json.loads(command("documents", "list", "--json", folder=tmp_path).stdout)["status_counts"]
    assert 0 < counts["processed"] < 24
    assert counts["processed"] + counts["pending"] == counts["all"] == 24, counts
    again = command("ingest", "files", "--json", folder=tmp_path)
    assert again.returncode == 0
    assert json.loads(again.stdout)["counts"] == {"known": counts["processed"], "processed": counts["pending"]}


def processed(folder: Path) -> bool:
    """Tell whether a document is processed, as the file of the stores says it."""
    import sqlite3

    path = folder / "rag_storage" / "lightrag.sqlite"
    if not path.exists():
        return False
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return bool(connection.execute("SELECT count(*) FROM vectors_chunks").fetchone()[0])
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()


def test_a_corpus_is_the_same_for_the_library(tmp_path: Path) -> None:
    write_files(tmp_path)
    assert command("ingest", "note.txt", folder=tmp_path).returncode == 0
    program = f"""
import asyncio
from lightrag.configured import build_engine
from lightrag.settings_api import load_api_settings

async def main():
    rag = build_engine(load_api_settings(), working_dir="rag_storage")
    await rag.initialize_storages()
    row = await rag.doc_status.get_doc_by_file_path("note.txt")
    print(row[1].status, row[1].content_length == {len(FILES["note.txt"][0].strip())})
    await rag.finalize_storages()

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "processed True\n", done.stderr


def test_the_server_without_its_packages_names_the_extra(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['lightrag-server']; "
        "from lightrag.api.command import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "lightrag-server: The server needs the package 'fastapi'" in done.stderr
    assert "pip install 'lightrag-hku[api]'" in done.stderr


def test_the_name_alone_shows_the_help(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lightrag.cli"]
    alone, asked = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=True, cwd=tmp_path)
        for more in ([], ["--help"])
    )
    assert alone.stdout == asked.stdout
    assert "Usage: lightrag" in alone.stdout
