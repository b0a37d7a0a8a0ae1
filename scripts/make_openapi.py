"""Write tests/api/openapi.json: the OpenAPI document of the server, from which clients are generated.

python scripts/make_openapi.py            # writes the file
python scripts/make_openapi.py --check    # fails if the file is not what would be written
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "tests" / "api" / "openapi.json"


def render() -> str:
    """Return the text of the file. No engine is opened, and no model is loaded."""
    from lightrag import LightRAG
    from lightrag.api.app import create_app
    from lightrag.contracts.models import EmbeddingFunc
    from lightrag.settings_api import ApiSettings

    async def unused(*_args: object, **_kwargs: object) -> str:
        raise NotImplementedError

    engine = LightRAG(llm_model_func=unused, embedding_func=EmbeddingFunc(1, unused))
    # The defaults, whatever the environment says.
    settings = ApiSettings.model_construct(**{"host": "127.0.0.1"})
    return json.dumps(create_app(settings, engine=engine).openapi(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write or check."""
    wanted = render()
    if "--check" in arguments:
        same = TARGET.is_file() and TARGET.read_text(encoding="utf-8") == wanted
        if not same:
            print("tests/api/openapi.json is not up to date: run scripts/make_openapi.py", file=sys.stderr)
        return 0 if same else 1
    TARGET.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
