"""Where the command ``lightrag-server`` begins."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Load the server and run it: :func:`lightrag.api.lightrag_server.main`.

    Returns:
        As there, and 1 when the packages of the server are not installed.
    """
    # Nothing that an import makes is garbage, and looking for some takes a tenth of the time to start.
    gc.disable()
    try:
        from lightrag.api import lightrag_server
    except ModuleNotFoundError as error:
        # The command is installed with the core, which does not bring what the server is built with.
        if error.name is None or error.name.startswith("lightrag"):
            raise
        from lightrag.exceptions import MissingDependencyError

        print(f"lightrag-server: {MissingDependencyError(error.name, 'api', 'The server')}", file=sys.stderr)
        return 1

    gc.freeze()
    gc.enable()
    return lightrag_server.main(argv)
