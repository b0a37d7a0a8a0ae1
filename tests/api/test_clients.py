"""Clients that others wrote, unchanged, against a real server: scripts/clients.sh installs them and runs this."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.test_process import ROOT, fakes, free_port, settled

CLIENTS = ROOT / ".clients"
ANSWER = "".join(f"word{number} " for number in range(200))
FACT = "Ada -> Engine: Ada wrote the first program for the Engine."

pytestmark = pytest.mark.skipif(
    not (CLIENTS / ".stamp").is_file(), reason="the clients that others wrote are not installed: scripts/clients.sh"
)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A server with one document."""
    port = free_port()
    with fakes(tmp_path, port), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        assert client.post("/documents/text", json={"text": FACT, "file_source": "ada.md"}).status_code == 200
        assert settled(client)["processed"] == 1
        yield port


def environment(port: int, folder: Path) -> dict[str, str]:
    return {**os.environ, "OLLAMA_HOST": f"http://127.0.0.1:{port}", "LLM_USER_PATH": str(folder / "llm")}


class Mcp:
    """Speaks with an MCP server over its standard streams, as an assistant does."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self._id = 0
        hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.ask("initialize", hello)
        self._send({"method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        self._in.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._in.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        for line in self._out:
            told = json.loads(line)
            if told.get("id") == self._id:
                result: dict[str, Any] = told["result"]
                return result
        raise AssertionError("the MCP server ended")

    def call(self, tool: str, **arguments: Any) -> Any:
        """Return what a tool says."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        told = json.loads(result["content"][0]["text"])
        assert told["status"] == "success", told
        return told["response"]


@contextmanager
def mcp(name: str, port: int) -> Iterator[Mcp]:
    command = [str(CLIENTS / "bin" / name), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield Mcp(process)
        finally:
            process.kill()


def test_mcp_server_lightrag_mcp(port: int, tmp_path: Path) -> None:
    (tmp_path / "bob.md").write_text("Bob -> Engine: Bob polished the Engine.")
    with mcp("lightrag-mcp", port) as tools, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        assert tools.call("check_lightrag_health")["status"] == "healthy"
        answer = tools.call("query_document", query="Who wrote the first program for the Engine?", mode="naive")
        assert answer["response"].startswith("answer to")
        assert answer["references"][0]["file_path"] == "ada.md"
        assert tools.call("insert_document", text="Carol -> Engine: Carol oiled it.")["status"] == "success"
        assert tools.call("upload_document", file_path=str(tmp_path / "bob.md"))["status"] == "success"
        settled(client)
        assert tools.call("get_graph_labels") == "['Ada', 'Bob', 'Carol', 'Engine']"
        assert tools.call("get_pipeline_status")["busy"] is False
        assert tools.call("scan_for_new_documents")["status"] == "scanning_started"


def test_mcp_server_mcp_lightrag(port: int, tmp_path: Path) -> None:
    (tmp_path / "dan.md").write_text("Dan -> Engine: Dan broke the Engine.")
    with mcp("mcp-lightrag", port) as tools, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        assert tools.call("verify_server_health")["status"] == "healthy"
        tools.call("upload_and_index", file_path=str(tmp_path / "dan.md"))
        settled(client)
        assert tools.call("find_document", filename="dan.md")["status"] == "processed"
        found = tools.call("get_latest_documents", limit=10, status="processed")["documents"]
        assert {row["file_path"] for row in found} == {"ada.md", "dan.md"}
        assert tools.call("upsert_document", file_path=str(tmp_path / "dan.md"))["action"] == "skipped"
        assert tools.call("get_graph_metadata") == ["Ada", "Dan", "Engine"]
        made = tools.call(
            "create_entities", entities=[{"name": "Yan", "type": "person", "description": "d", "source_id": "x"}]
        )
        assert made["successful"] == 1
        linked = tools.call(
            "connect_entities",
            relations=[{"source": "Yan", "target": "Ada", "description": "knows", "keywords": "x", "weight": 1.0}],
        )
        assert linked[0]["status"] == "ok"
        assert tools.call("unify_entities", sources=["Yan"], target="Ada")["status"] == "success"
        assert client.get("/graph/label/list").json() == ["Ada", "Dan", "Engine"]


def test_command_line_llm_over_the_ollama_route(port: int, tmp_path: Path) -> None:
    def llm(*arguments: str) -> str:
        command = [str(CLIENTS / "bin" / "llm"), *arguments]
        return subprocess.run(
            command, env=environment(port, tmp_path), capture_output=True, text=True, check=True, timeout=60
        ).stdout

    assert "ollama/lightrag:latest" in llm("models")
    assert llm("-m", "ollama/lightrag", "/naive Who wrote the first program?").strip() == ANSWER.strip()
    limited = '/naivecontext /filter{"path_prefixes": ["ada.md"]} Who wrote the first program for the Engine?'
    assert "[1] ada.md" in llm("-m", "ollama/lightrag", "--no-stream", limited)
    outside = limited.replace("ada.md", "eve.md")
    assert "ada.md" not in llm("-m", "ollama/lightrag", "--no-stream", outside)


def test_chat_page_over_the_ollama_route(port: int, tmp_path: Path) -> None:
    page = free_port()
    command = [str(CLIENTS / "bin" / "ollama-chat"), "-n", "-q", "-p", str(page), "-c", str(tmp_path / "chat.json")]
    with subprocess.Popen(command, env=environment(port, tmp_path), stderr=subprocess.DEVNULL) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{page}", timeout=30) as browser:
                deadline = time.monotonic() + 30
                while True:
                    try:
                        models = browser.get("/getModels").json()["models"]
                        break
                    except httpx.TransportError:
                        assert time.monotonic() < deadline
                        time.sleep(0.1)
                assert [model["id"] for model in models] == ["lightrag:latest"]
                asked = {"user": "/naive Who wrote the first program?", "model": "lightrag:latest"}
                chat = browser.post("/startConversation", json=asked).json()["id"]
                while True:
                    told = browser.get("/getConversation", params={"id": chat}).json()
                    answer = told["conversation"]["exchanges"][0]["model"] if told["conversation"]["exchanges"] else ""
                    if answer.strip() == ANSWER.strip():
                        break
                    assert time.monotonic() < deadline, answer
                    time.sleep(0.1)
        finally:
            process.kill()


SCRIPT = """
const { Ollama } = require("ollama");
(async () => {
  const server = new Ollama({ host: process.env.OLLAMA_HOST });
  const messages = [{ role: "user", content: "/naive Who wrote the first program?" }];
  let answer = "";
  for await (const part of await server.chat({ model: "lightrag:latest", messages, stream: true })) {
    answer += part.message.content;
  }
  const models = (await server.list()).models.map((model) => model.name);
  const { capabilities } = await server.show({ model: "lightrag:latest" });
  console.log(JSON.stringify({ answer, models, capabilities }));
})();
"""


def test_library_of_ollama_for_javascript(port: int, tmp_path: Path) -> None:
    if shutil.which("node") is None or not (CLIENTS / "js" / "node_modules").is_dir():
        pytest.skip("Node is not installed, or was not when scripts/clients.sh ran")
    done = subprocess.run(
        ["node", "-e", SCRIPT], cwd=CLIENTS / "js", env=environment(port, tmp_path), capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout) == {
        "answer": ANSWER, "models": ["lightrag:latest"], "capabilities": ["completion"],
    }  # fmt: skip
