"""The crash child with a log that is folded into the file all the time, so that a kill also meets that."""

from __future__ import annotations

import asyncio
import sys

from lightrag.kg.sqlite import connection
from tests.conformance.crash_child import work

if __name__ == "__main__":
    connection.CHECKPOINT_BYTES = 64 * 1024
    asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3])))
