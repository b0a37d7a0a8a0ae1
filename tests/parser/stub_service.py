"""A local HTTP server that plays a parsing service: answers as told, and records what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """What is sent back; ``body`` that is not bytes is sent as JSON."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class StubService:
    """The server.

    Attributes:
        url: Its address.
        handle: Answers a request; may block.
        asked: The requests, in order.
        release: Set at the end, so that handlers that wait come to theirs.
    """

    url: str = ""
    handle: Callable[[Asked], Answer] = lambda asked: Answer({}, 404)
    asked: list[Asked] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)

    def answers(self, table: dict[str, list[Answer] | Answer]) -> None:
        """Answer by ``"METHOD /path"``; of a list each answer is given once, and the last one again and again."""

        def handle(asked: Asked) -> Answer:
            found = table.get(f"{asked.method} {asked.path.partition('?')[0]}", Answer({"detail": "Not Found"}, 404))
            if isinstance(found, list):
                return found.pop(0) if len(found) > 1 else found[0]
            return found

        self.handle = handle

    @property
    def paths(self) -> list[str]:
        return [f"{asked.method} {asked.path}" for asked in self.asked]


@contextmanager
def running_service() -> Iterator[StubService]:
    stub = StubService()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            stub.asked.append(asked)
            answer = stub.handle(asked)
            data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            try:
                self.send_response(answer.status)
                for name, value in {"content-length": str(len(data)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_GET = do_POST = do_PUT = answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    stub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        stub.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
