"""The server over the demo's documents: started beside this process, found again by the next run, ended on request.

python -m demo.server --port 9621      # what is started; scripts/demo.sh does it
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from demo import run
from demo.run import DemoError
from demo.settings import DEFAULT_PORT, SCOPE_PREFIXES

HOST = "127.0.0.1"
_PORTS_TRIED = 20
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_POLL_SECONDS = 0.05
# Servers that this process started: kept, because they are meant to go on, and asked about when they have ended.
_children: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Running:
    """A server that was started.

    Attributes:
        pid: Its process.
        port: Where it listens.
    """

    pid: int
    port: int

    @property
    def address(self) -> str:
        """Where it is found, without a slash at the end."""
        return f"http://{HOST}:{self.port}"


def log_file() -> Path:
    """Return where the server writes its log."""
    return run.DEMO / ".server.log"


def _state_file() -> Path:
    return run.DEMO / ".server.json"


def start(port: int = DEFAULT_PORT) -> Running:
    """Start a server that outlives this process, and wait until it answers.

    Args:
        port: Where it should listen; the next free one is taken when that is in use.

    Raises:
        DemoError: It did not come up; the message holds the end of its log.
    """
    free = _free_port(port)
    with log_file().open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "demo.server", "--port", str(free), "--work", str(run.WORK)],
            cwd=Path(__file__).resolve().parents[1],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _children.append(process)
    running = Running(process.pid, free)
    _state_file().write_text(json.dumps(asdict(running)), encoding="utf-8")
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(running):
        if process.poll() is not None or time.monotonic() > deadline:
            stop()
            end = "\n".join(log_file().read_text(encoding="utf-8", errors="replace").splitlines()[-5:])
            raise DemoError(f"the server did not start; its log, {log_file()}, ends with:\n{end}")
        time.sleep(_POLL_SECONDS)
    return running


def stop() -> bool:
    """End the server that an earlier run left running.

    Returns:
        Whether there was one.
    """
    running = _started_before()
    if running is None:
        return False
    deadline = time.monotonic() + _STOP_SECONDS
    os.kill(running.pid, signal.SIGTERM)
    while _is_ours(running.pid):
        if time.monotonic() > deadline:
            os.kill(running.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            break
        time.sleep(_POLL_SECONDS)
    _state_file().unlink(missing_ok=True)
    _children[:] = [child for child in _children if child.pid != running.pid or child.wait() is None]
    return True


def _started_before() -> Running | None:
    try:
        running = Running(**json.loads(_state_file().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    if _is_ours(running.pid):
        return running
    _state_file().unlink(missing_ok=True)
    return None


def _is_ours(pid: int) -> bool:
    """Tell whether a process is a server of this demo, since the number may belong to another one by now."""
    if Path("/proc/self/cmdline").exists():
        try:
            # Empty for a process that has ended and that nobody has asked about yet.
            return b"\0-m\0demo.server\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
    command = ["ps", "-p", str(pid), "-o", "command="]
    shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return " -m demo.server " in shown


def _answers(running: Running) -> bool:
    try:
        told = httpx.get(f"{running.address}/health", timeout=5).json()
    except (httpx.HTTPError, ValueError):
        return False
    return bool(told.get("working_directory") == str(run.WORK))


def _free_port(wanted: int) -> int:
    for port in range(wanted, wanted + _PORTS_TRIED):
        with socket.socket() as probe:
            # A port whose last connections are not forgotten yet is free all the same.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise DemoError(f"all ports from {wanted} to {wanted + _PORTS_TRIED - 1} are in use; choose one with --port")


def check(running: Running, sources: int, limited: list[dict[str, Any]]) -> list[str]:
    """Ask the server over HTTP what a person would try in the browser.

    Args:
        running: The server.
        sources: Documents that it should have.
        limited: Questions with filters, as ``questions.json`` has them.

    Returns:
        What is wrong, a line each.
    """
    with httpx.Client(base_url=running.address, timeout=60) as client:
        return [
            *_pages(client),
            *_corpus(client, sources),
            *(line for item in limited for line in _asked(client, item)),
        ]


def _pages(client: httpx.Client) -> list[str]:
    page = client.get("/webui/")
    built = client.get("/health").json()["webui_available"]
    if built and (page.status_code != 200 or "<script" not in page.text):
        return [f"/webui/ answers {page.status_code}"]
    if not built and "scripts/webui.sh" not in page.text:
        return ["/webui/ does not say how to build the web UI"]
    return []


def _corpus(client: httpx.Client, sources: int) -> list[str]:
    counts = client.get("/documents/status_counts").json()["status_counts"]
    facets = client.get("/documents/facets").json()
    scopes = client.get("/graph/scope/list").json()
    wrong = [] if counts["processed"] == counts["all"] == sources else [f"documents by state: {counts}"]
    if not facets["tags"] or not facets["histogram"]:
        wrong.append("the documents have no tags or dates to filter by")
    if not all(any(scope.startswith(prefix) for scope in scopes) for prefix in SCOPE_PREFIXES):
        wrong.append(f"scopes of the graph: {scopes}")
    return wrong


def _asked(client: httpx.Client, item: dict[str, Any]) -> list[str]:
    reply = client.post("/query", json={"query": item["question"], "mode": "mix", **item["filter"]})
    if reply.status_code != 200:
        return [f"{item['label']}: {reply.status_code} {reply.text}"]
    drawn_on = {reference["file_path"] for reference in reply.json()["references"]}
    outside, unseen = drawn_on - set(item["eligible"]), set(item["expect_sources"]) - drawn_on
    preview = client.post("/query/preview", json=item["filter"]).json()["eligible_documents"]
    found = [f"{item['label']}: draws on {outside}, misses {unseen}"] if outside or unseen else []
    if preview != len(item["eligible"]):
        found.append(f"{item['label']}: the preview counts {preview} documents, not {len(item['eligible'])}")
    return found


def main() -> int:
    """Serve the demo's documents until stopped; what is set for other servers in the environment does not count."""
    from lightrag.api.arguments import ServerArguments
    from lightrag.api.lightrag_server import serve
    from lightrag.api.logs import configure_logging
    from lightrag.settings_api import load_api_settings

    parser = argparse.ArgumentParser(prog="demo.server")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--work", type=Path, default=run.WORK)
    options = parser.parse_args()
    settings = load_api_settings(
        host=HOST,
        port=options.port,
        input_dir=str(options.work / "inputs"),
        llm_binding="offline",
        embedding_binding="offline",
        rerank_binding="null",
        lightrag_api_key="",
        auth_accounts=[],
        access_policies="",
        ssl=False,
        api_prefix="",
    )
    configure_logging(settings)
    fields = {
        "working_dir": str(options.work),
        "workspace": "",
        "scope_tag_prefixes": SCOPE_PREFIXES,
        "enable_kg_scope_materialization": True,
    }
    return serve(ServerArguments(settings, fields))


if __name__ == "__main__":
    sys.exit(main())
