"""The server under the loads that it promises to bear, each over a process of its own and real connections.

    python scripts/bench/server.py                   # all; prints the table of design/performance.md
    python scripts/bench/server.py start health      # some of: start health added streams uploads killed

The models are fakes without latency, so that the figures are those of the server and the engine. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import workload

ROOT = Path(__file__).resolve().parents[2]
STREAMS, WORDS = 50, 200
UPLOADS, CLIENTS = 1000, 20
QUERIES = 200
DOCUMENTS = 200

Row = tuple[str, str, str]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def resident_mb(pid: int, field: str = "VmRSS:") -> float:
    """Return the resident memory of a process, MB."""
    return int(Path(f"/proc/{pid}/status").read_text().partition(field)[2].split()[0]) * 1024 / 1e6


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """Run a server; give its process and the seconds until /health answered."""
    begin = time.perf_counter()
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, *command], cwd=folder, stdout=log, stderr=log)
    try:
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    break
            except OSError:
                if process.poll() is not None or time.perf_counter() - begin > 60:
                    raise RuntimeError((folder / "server.log").read_text()) from None
                time.sleep(0.005)
            finally:
                connection.close()
        yield process, time.perf_counter() - begin
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def fakes(folder: Path, port: int, seconds: float = 0.0) -> list[str]:
    """Return the command of a server over fakes that takes so many seconds for each extraction."""
    return [str(Path(__file__).resolve()), "serve", str(folder), str(port), str(seconds)]


def engine_of(folder: Path, seconds: float = 0.0) -> Any:
    """Return an engine over fakes, not yet opened."""
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc, Tokenizer

    complete, _ = workload.make_language_model()
    embed, _ = workload.make_embedder()

    async def pieces() -> Any:
        for number in range(WORDS):
            await asyncio.sleep(0.002)
            yield f"word{number} "

    async def answer(prompt: str, system_prompt: str | None = None, **kwargs: Any) -> Any:
        if kwargs.get("stream"):
            return pieces()
        await asyncio.sleep(seconds)
        return await complete(prompt, system_prompt=system_prompt, **kwargs)

    return LightRAG(
        working_dir=str(folder / "store"),
        llm_model_func=answer,
        llm_model_max_async=100,
        embedding_func=EmbeddingFunc(embedding_dim=workload.EMBEDDING_DIM, max_token_size=8192, func=embed),
        tokenizer=Tokenizer("block", workload.BlockTokenizer()),
        chunk_token_size=workload.CHUNK_TOKENS,
        chunk_overlap_token_size=workload.CHUNK_OVERLAP_TOKENS,
        cosine_better_than_threshold=-1.0,
    )


def serve(folder: Path, port: int, seconds: float) -> None:
    """Serve until stopped."""
    from lightrag.api.app import create_app
    from lightrag.api.lightrag_server import run
    from lightrag.settings_api import load_api_settings

    settings = load_api_settings(input_dir=str(folder / "inputs"), host="127.0.0.1", port=port, log_level="WARNING")
    run(create_app(settings, engine=engine_of(folder, seconds)), settings)


def median_ms(work: Callable[[int], Any], count: int = QUERIES) -> float:
    """Return the median time of some calls, after a tenth of them to warm up, ms."""
    for number in range(count // 10):
        work(number)
    times = []
    for number in range(count):
        begin = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1000


def asker(port: int, method: str, path: str) -> Callable[[dict[str, Any] | None], bytes]:
    """Return a function that sends requests over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(body: dict[str, Any] | None = None) -> bytes:
        sent = None if body is None else json.dumps(body).encode()
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        return text

    return ask


def measure_start(folder: Path) -> list[Row]:
    seconds, processor, resident = [], [], []
    for number in range(5):
        port, own = free_port(), folder / str(number)
        own.mkdir()
        command = ["-c", "from lightrag.api.command import main; main()", "--host", "127.0.0.1", "--port", str(port)]
        with running(command, own, port) as (process, took):
            seconds.append(took)
            processor.append(processor_seconds(process.pid))
            resident.append(resident_mb(process.pid))
    return [
        (
            "Start to `/health`, empty directory (median of 5; best)",
            f"{statistics.median(seconds):.2f} s; {min(seconds):.2f} s",
            "at most 1.0 s",
        ),
        ("Processor time of the start (median of 5)", f"{statistics.median(processor):.2f} s", ""),
        ("Memory after the start", f"{statistics.median(resident):.0f} MB", "at most 90 MB"),
    ]


def measure_health(folder: Path) -> list[Row]:
    port = free_port()
    with running(fakes(folder, port), folder, port):
        ask = asker(port, "GET", "/health")
        took = median_ms(lambda _: ask(None))
    return [("`GET /health`, p50", f"{took:.2f} ms", "under 5 ms")]


def filled(folder: Path) -> None:
    """Put documents into the store."""

    async def fill() -> None:
        rag = engine_of(folder)
        await rag.initialize_storages()
        for number, document in enumerate(workload.make_corpus(DOCUMENTS)):
            await rag.apipeline_enqueue_documents(document.text, ids=workload.document_id(number))
        await rag.apipeline_process_enqueue_documents()
        await rag.finalize_storages()

    asyncio.run(fill())


def measure_added(folder: Path) -> list[Row]:
    from lightrag import QueryParam

    filled(folder)
    rag = engine_of(folder)
    with asyncio.Runner() as runner:
        runner.run(rag.initialize_storages())

        def directly(number: int) -> None:
            result = runner.run(rag.aquery_data(f"What links thing {number}?", QueryParam(mode="naive")))
            assert len(result["data"]["chunks"]) == 20, result

        engine = median_ms(directly)
        runner.run(rag.finalize_storages())
    port = free_port()
    with running(fakes(folder, port), folder, port):
        ask = asker(port, "POST", "/query/data")
        whole = median_ms(lambda number: ask({"query": f"What links thing {number}?", "mode": "naive"}))
    told = f"{whole - engine:.2f} ms ({whole:.2f} ms; the engine alone {engine:.2f} ms)"
    return [(f"Added to a naive `/query/data`, p50, {DOCUMENTS} documents", told, "at most 3 ms")]


def measure_streams(folder: Path) -> list[Row]:
    port = free_port()

    async def one(client: httpx.AsyncClient, number: int) -> int:
        body = {"query": f"Tell me about thing {number}", "mode": "bypass"}
        async with client.stream("POST", "/query/stream", json=body) as answer:
            lines = [json.loads(line) async for line in answer.aiter_lines()]
        pieces = [line["response"] for line in lines if "response" in line]
        return sum(piece == f"word{position} " for position, piece in enumerate(pieces))

    async def all_at_once() -> list[int]:
        limits = httpx.Limits(max_connections=STREAMS)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120, limits=limits) as client:
            return await asyncio.gather(*(one(client, number) for number in range(STREAMS)))

    with running(fakes(folder, port), folder, port):
        begin = time.perf_counter()
        found = asyncio.run(all_at_once())
        took = time.perf_counter() - begin
    lost = STREAMS * WORDS - sum(found)
    return [(f"{STREAMS} streams of {WORDS} lines at once", f"{lost} lines lost, {took:.1f} s", "none lost")]


class Uploads:
    """Small uploads by several clients at once."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.acknowledged: list[str] = []
        self._next = iter(range(UPLOADS))
        self._lock = threading.Lock()

    def run(self, at_half: Callable[[], None] = lambda: None) -> None:
        """Send all of them; ``at_half`` is called once, in the middle."""
        clients = [threading.Thread(target=self._client, args=(at_half,)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()

    def _client(self, at_half: Callable[[], None]) -> None:
        with httpx.Client(base_url=self.address, timeout=120) as client:
            while True:
                with self._lock:
                    number = next(self._next, None)
                if number is None:
                    return
                name, text = f"{number % 7}/{number}.md", f"[~Person {number}~] came to [~Place {number % 50}~]."
                try:
                    answer = client.post("/documents/upload", files={"file": (name, text.encode())})
                except httpx.TransportError:
                    return
                assert answer.status_code == 200, answer.text
                with self._lock:
                    self.acknowledged.append(name)
                    half = len(self.acknowledged) == UPLOADS // 2
                if half:
                    at_half()


def settled(address: str) -> dict[str, int]:
    """Wait until nothing is pending and return the number of documents of each state."""
    while True:
        counts: dict[str, int] = httpx.get(f"{address}/documents/status_counts", timeout=60).json()["status_counts"]
        if counts["processed"] + counts["failed"] == counts["all"]:
            return counts
        time.sleep(0.25)


def all_names(address: str) -> list[str]:
    """Return the path of every document."""
    names: list[str] = []
    with httpx.Client(base_url=address, timeout=60) as client:
        while True:
            body = {"page": len(names) // 200 + 1, "page_size": 200, "sort_field": "id"}
            page = client.post("/documents/paginated", json=body).json()
            names += [row["file_path"] for row in page["documents"]]
            if not page["pagination"]["has_next"]:
                return names


def measure_uploads(folder: Path) -> list[Row]:
    port = free_port()
    with running(fakes(folder, port), folder, port) as (process, _):
        uploads, resident = Uploads(port), [resident_mb(process.pid)]
        begin = time.perf_counter()
        uploads.run(lambda: resident.append(resident_mb(process.pid)))
        sent = time.perf_counter() - begin
        counts = settled(uploads.address)
        took = time.perf_counter() - begin
        resident.append(resident_mb(process.pid))
        names = all_names(uploads.address)
    lost, double = UPLOADS - len(set(names) & set(uploads.acknowledged)), len(names) - len(set(names))
    memory = " → ".join(f"{value:.0f}" for value in resident)
    return [
        (
            f"{UPLOADS} small uploads by {CLIENTS} clients",
            f"{lost} lost, {double} double, {counts['failed']} failed; sent in {sent:.0f} s, done in {took:.0f} s",
            "none lost, none double",
        ),
        ("Memory at the start, after half, after all of them", f"{memory} MB", "flat"),
    ]


def measure_killed(folder: Path) -> list[Row]:
    port = free_port()
    with running(fakes(folder, port, 0.05), folder, port) as (process, _):
        uploads = Uploads(port)
        uploads.run(process.kill)
        process.wait()
    with running(fakes(folder, port), folder, port):
        counts, names = settled(uploads.address), all_names(uploads.address)
    lost, double = len(set(uploads.acknowledged) - set(names)), len(names) - len(set(names))
    told = f"{len(uploads.acknowledged)} acknowledged: {lost} lost, {double} double; {counts['processed']} processed"
    return [("Killed (SIGKILL) in the middle of them, started again", told, "all acknowledged are processed")]


MEASURES: dict[str, Callable[[Path], list[Row]]] = {
    "start": measure_start,
    "health": measure_health,
    "added": measure_added,
    "streams": measure_streams,
    "uploads": measure_uploads,
    "killed": measure_killed,
}


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        serve(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measures", nargs="*", choices=[*MEASURES, []], help="which; all when none is named")
    print("| What | Measured | Target |\n|---|---:|---|")
    for name in parser.parse_args().measures or MEASURES:
        folder = Path(tempfile.mkdtemp(prefix=f"server-{name}-"))
        try:
            for row in MEASURES[name](folder):
                print(f"| {' | '.join(row)} |", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
