"""Where the command ``lightrag-server`` begins."""

from __future__ import annotations

import gc
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Load the server and run it: :func:`lightrag.api.lightrag_server.main`."""
    # Nothing that an import makes is garbage, and looking for some takes a tenth of the time to start.
    gc.disable()
    from lightrag.api import lightrag_server

    gc.freeze()
    gc.enable()
    return lightrag_server.main(argv)
