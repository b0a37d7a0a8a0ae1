"""The crash child with a journal that is folded into the files all the time, so that a kill also meets that."""

from __future__ import annotations

import asyncio
import sys

from lightrag.kg.files import fold
from tests.conformance.crash_child import work


def always_due(folder: fold.Foldable) -> bool:
    return folder.journal.size > 48 * 1024


if __name__ == "__main__":
    from lightrag.kg.files import folder

    folder.is_due = always_due
    asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3])))
