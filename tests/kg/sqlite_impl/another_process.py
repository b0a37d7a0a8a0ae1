from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def in_another_process(code: str, folder: Path) -> str:
    """Run code in a process of its own, in which ``folder`` and ``workspace`` are known, and return what it prints."""
    script = f"""
import asyncio
from pathlib import Path
import numpy as np
from tests.conformance.families import DIMENSION, Workspace, family_named, text_vector
folder = Path({str(folder)!r})
workspace = Workspace(family_named("sqlite"), folder)
ONES = np.ones(DIMENSION, dtype=np.float32)
async def main():
{chr(10).join("    " + line for line in code.strip().splitlines())}
    await workspace.close()
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
