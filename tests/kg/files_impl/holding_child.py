"""Opens a folder, writes a row, says so, and keeps the folder open until it is killed."""

from __future__ import annotations

import asyncio
import os
import sys

from tests.kg.files_impl.workspace import workspace_in


async def hold(folder: str) -> None:
    store = await workspace_in(folder).kv()
    await store.upsert({"held": {"n": 1}})
    os.write(1, b"holding\n")
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1]))
