"""A real server over fake models, for tests that need a process of their own.

    python -m tests.api.serve_fakes FOLDER PORT [seconds per extraction] [seconds per streamed word]

``FOLDER/streams.log`` gets a line for every stream that nobody read to its end.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import uvicorn

from lightrag import LightRAG
from lightrag.api.app import create_app
from lightrag.api.logs import configure_logging
from lightrag.settings_api import load_api_settings
from tests.api.conftest import StreamingFactModel
from tests.fakes.facts import make_embedding


class SlowModel(StreamingFactModel):
    """Takes its time to extract, and notes streams that were left."""

    def __init__(self, folder: Path, seconds: float, pause: float) -> None:
        super().__init__()
        self.folder = folder
        self.seconds = seconds
        self.pause = pause
        self.words = 200

    async def __call__(self, prompt: str, system_prompt: str | None = None, **kwargs: Any) -> Any:
        if self._task(prompt, system_prompt or "", kwargs.get("history_messages") or []) == "extract":
            await asyncio.sleep(self.seconds)
        return await super().__call__(prompt, system_prompt, **kwargs)

    async def _stream(self) -> Any:
        try:
            async for word in super()._stream():
                yield word
        finally:
            if self.closed_early or self.pieces_given % self.words:
                with (self.folder / "streams.log").open("a") as log:
                    log.write(f"left after {self.pieces_given}\n")


def main(folder: Path, port: int, seconds: float, pause: float) -> None:
    engine = LightRAG(
        working_dir=str(folder / "store"),
        llm_model_func=SlowModel(folder, seconds, pause),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        llm_model_max_async=100,
    )
    settings = load_api_settings(
        input_dir=str(folder / "inputs"), host="127.0.0.1", port=port, shutdown_seconds=1, log_level="WARNING"
    )
    configure_logging(settings)
    app = create_app(settings, engine=engine)
    uvicorn.run(
        app, host="127.0.0.1", port=port, access_log=False, log_config=None,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )  # fmt: skip


if __name__ == "__main__":
    given = [float(text) for text in sys.argv[3:]] + [0.0, 0.0]
    main(Path(sys.argv[1]), int(sys.argv[2]), given[0], given[1])
