"""A real server in a process of its own: start, sudden end, streams, clients that go away."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Ada wrote the first program for the Engine"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def process(command: list[str], port: int, folder: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server, wait until it answers, and end it with the block."""
    log = (folder / "server.log").open("ab")
    running = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT if "tests.api.serve_fakes" in command else folder,
        stdout=log,
        stderr=log,
        env={**os.environ, **environment},
    )
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/health", timeout=5).status_code == 200:
                    break
            except httpx.TransportError:
                assert running.poll() is None, (folder / "server.log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.02)
        yield running
    finally:
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(20)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
        log.close()


@contextmanager
def fakes(folder: Path, port: int, *options: float) -> Iterator[subprocess.Popen[bytes]]:
    command = ["-m", "tests.api.serve_fakes", str(folder), str(port), *map(str, options)]
    with process(command, port, folder) as running:
        yield running


def settled(client: httpx.Client, seconds: float = 60) -> dict[str, int]:
    """Wait until nothing is pending, and return the number of documents of each state."""
    deadline = time.monotonic() + seconds
    while True:
        counts: dict[str, int] = client.get("/documents/status_counts").json()["status_counts"]
        if counts["processed"] + counts["failed"] == counts["all"]:
            return counts
        assert time.monotonic() < deadline, counts
        time.sleep(0.1)


def upload(client: httpx.Client, number: int) -> httpx.Response:
    text = f"Node{number} -> Root: grown in year {number}."
    return client.post("/documents/upload", files={"file": (f"{number}.md", text.encode(), "text/markdown")})


def test_acknowledged_uploads_survive_a_sudden_end(tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    acknowledged = []
    with fakes(tmp_path, port, 0.3) as running, httpx.Client(base_url=address, timeout=30) as client:
        for number in range(30):
            answer = upload(client, number)
            assert answer.status_code == 200, answer.text
            acknowledged.append(f"{number}.md")
        # Some are processed by now, some are in the middle, and most of them wait.
        time.sleep(0.5)
        counts = client.get("/documents/status_counts").json()["status_counts"]
        assert counts["all"] == 30
        assert counts["processed"] < 30
        running.send_signal(signal.SIGKILL)
        running.wait()
    with fakes(tmp_path, port), httpx.Client(base_url=address, timeout=30) as client:
        counts = settled(client)
        assert counts["processed"] == counts["all"] == 30
        rows = client.post("/documents/paginated", json={"page_size": 200}).json()["documents"]
        assert sorted(row["file_path"] for row in rows) == sorted(acknowledged)
        labels = client.get("/graph/label/list").json()
        assert len(labels) == 31
        # A file is put away right after its document is processed.
        deadline = time.monotonic() + 10
        while list((tmp_path / "inputs").glob("*.md")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert len(list((tmp_path / "inputs" / "__parsed__").glob("*.md"))) == 30


def test_uploads_by_many_clients_are_stored_once(tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    names = [f"{number % 7}/{number}.md" for number in range(120)]
    left = iter(names)

    async def client() -> None:
        async with httpx.AsyncClient(base_url=address, timeout=60) as own:
            for name in left:
                text = f"Node{name.partition('/')[2]} -> Root: grown."
                answer = await own.post("/documents/upload", files={"file": (name, text.encode())})
                assert answer.status_code == 200, answer.text

    async def clients() -> None:
        await asyncio.gather(*(client() for _ in range(10)))

    with fakes(tmp_path, port), httpx.Client(base_url=address, timeout=30) as one:
        asyncio.run(clients())
        assert settled(one)["processed"] == 120
        rows = one.post("/documents/paginated", json={"page_size": 200}).json()["documents"]
        assert sorted(row["file_path"] for row in rows) == sorted(names)
        assert len(one.get("/graph/label/list").json()) == 121


def test_ordered_end_leaves_documents_that_resume(tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with fakes(tmp_path, port, 30) as running, httpx.Client(base_url=address, timeout=30) as client:
        assert upload(client, 1).status_code == 200
        time.sleep(0.3)
        running.terminate()
        running.wait(15)
    log = (tmp_path / "server.log").read_text()
    assert "Traceback" not in log, log
    with fakes(tmp_path, port), httpx.Client(base_url=address, timeout=30) as client:
        assert settled(client)["processed"] == 1


async def test_fifty_streams_at_once_lose_no_line(tmp_path: Path) -> None:
    port = free_port()
    with fakes(tmp_path, port, 0, 0.002):
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", timeout=60, limits=httpx.Limits(max_connections=50)
        ) as client:
            text = {"text": "Ada -> Engine: Ada wrote the first program for the Engine.", "file_source": "a.md"}
            assert (await client.post("/documents/text", json=text)).status_code == 200
            for _ in range(200):
                counts = (await client.get("/documents/status_counts")).json()["status_counts"]
                if counts["processed"]:
                    break
                await asyncio.sleep(0.05)

            async def stream(number: int) -> list[dict[str, Any]]:
                body = {"query": f"{QUESTION} {number}", "mode": "naive"}
                async with client.stream("POST", "/query/stream", json=body) as answer:
                    assert answer.status_code == 200
                    return [json.loads(line) async for line in answer.aiter_lines()]

            for found in await asyncio.gather(*(stream(number) for number in range(50))):
                assert found[0]["references"], found[:2]
                assert [line["response"] for line in found[1:]] == [f"word{number} " for number in range(200)]


async def test_model_stops_when_the_client_goes_away(tmp_path: Path) -> None:
    port = free_port()
    with fakes(tmp_path, port, 0, 0.05):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            body = {"query": "Say something long", "mode": "bypass"}
            async with client.stream("POST", "/query/stream", json=body) as answer:
                read = 0
                async for _ in answer.aiter_lines():
                    read += 1
                    if read == 5:
                        break
        for _ in range(100):
            if (tmp_path / "streams.log").exists():
                break
            await asyncio.sleep(0.05)
    left_after = int((tmp_path / "streams.log").read_text().split()[-1])
    assert left_after < 40


def test_starts_with_nothing_configured_and_stays_small(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the offline models are not installed; extra offline")
    port = free_port()
    command = ["-m", "lightrag.api.lightrag_server", "--host", "127.0.0.1", "--port", str(port)]
    with process(command, port, tmp_path) as running:
        status = Path(f"/proc/{running.pid}/status")
        if not status.exists():
            pytest.skip("only Linux tells in /proc what a process uses")
        resident = int(status.read_text().partition("VmRSS:")[2].split()[0]) / 1024
        assert httpx.get(f"http://127.0.0.1:{port}/api/version").status_code == 200
    assert resident < 90, resident


async def test_client_library_of_ollama(tmp_path: Path) -> None:
    ollama = pytest.importorskip("ollama", reason="the client of ollama is not installed; extra dev")
    port = free_port()
    with fakes(tmp_path, port):
        client = ollama.AsyncClient(host=f"http://127.0.0.1:{port}")
        try:
            listed = await client.list()
            assert [model.model for model in listed.models] == ["lightrag:latest"]
            assert (await client.ps()).models[0].details.family == "llama"
            whole = await client.generate(model="lightrag:latest", prompt="Say hello")
            assert whole.response == "answer to Say hello"
            assert whole.done
            messages = [{"role": "user", "content": "/bypass Say something"}]
            pieces = [
                part.message.content
                async for part in await client.chat(model="lightrag:latest", messages=messages, stream=True)
            ]
            assert "".join(pieces) == "".join(f"word{number} " for number in range(200))
            wrong = [{"role": "user", "content": '/filter{"required_tag": ["x"]} Who?'}]
            with pytest.raises(ollama.ResponseError, match="did you mean 'required_tags'"):
                await client.chat(model="lightrag:latest", messages=wrong)
        finally:
            await client._client.aclose()


def test_a_folder_that_cannot_be_opened_is_told_in_one_line(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests" / "data" / "peer-1.5.7-working-dir", tmp_path / "old")
    port = str(free_port())
    command = [sys.executable, "-m", "lightrag.api.lightrag_server", "--working-dir", "old", "--port", port]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "holds data in files" in line]
    assert " ERROR " in line
    assert line.endswith("lightrag migrate --dir old")
    assert "Traceback" not in done.stderr
    told = subprocess.run(
        [*command, "--verbose"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" in told.stderr


def test_examples_of_the_readme(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the offline models are not installed; extra offline")
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Use it as a server")[2]
    block = [part.partition("```")[0] for part in section.split("```bash\n")][2]
    commands = [line for line in block.replace("\\\n", " ").splitlines() if line.startswith("curl ")]
    setting = next(line for line in block.splitlines() if line.startswith("filter="))
    port = free_port()
    url = f"http://127.0.0.1:{port}"

    def run(command: str) -> Any:
        script = f"url={url}\n{setting}\n{command}\n"
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    command = ["-m", "lightrag.api.lightrag_server", "--host", "127.0.0.1", "--port", str(port)]
    with process(command, port, tmp_path), httpx.Client(base_url=url, timeout=30) as client:
        assert run(commands[0])["files"][0]["file_path"] == "acts/1903.md"
        waiting = next(line for line in block.splitlines() if line.startswith("while "))
        subprocess.run(["bash", "-c", f"url={url}\n{waiting}"], check=True, timeout=60)
        assert client.get("/documents/status_counts").json()["status_counts"]["processed"] == 1
        preview, answer, facets, graph, chat = [run(command) for command in commands[1:]]
    assert preview["eligible_documents"] == 1
    assert [reference["file_path"] for reference in answer["references"]] == ["acts/1903.md"]
    assert "dues" in answer["response"]
    assert facets["tags"] == {"type": {"act": 1}}
    assert graph["nodes"]
    assert "acts/1903.md" in chat["message"]["content"]
