"""The real server over the offline models, for looking at the web UI and for its end-to-end tests.

    python lightrag_webui/e2e/serve.py FOLDER PORT

It reads the settings of the environment like the server itself; only the models are given: the embedded ones, which
need no key and no network.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn

from lightrag import LightRAG
from lightrag.api.app import create_app
from lightrag.api.logs import configure_logging
from lightrag.embedding.offline import offline_embedding
from lightrag.llm.offline import offline_complete
from lightrag.settings_api import load_api_settings


def main(folder: Path, port: int) -> None:
    engine = LightRAG(
        working_dir=str(folder / "store"),
        llm_model_func=offline_complete,
        llm_model_name="offline",
        embedding_func=offline_embedding(),
        entity_extract_max_gleaning=0,
    )
    settings = load_api_settings(
        input_dir=str(folder / "inputs"), host="127.0.0.1", port=port, shutdown_seconds=1, log_level="WARNING"
    )
    configure_logging(settings)
    app = create_app(settings, engine=engine)
    uvicorn.run(app, host="127.0.0.1", port=port, access_log=False, log_config=None, timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
