from __future__ import annotations

from pathlib import Path

from tests.conformance.families import family_named
from tests.conformance.test_crash import live_and_die


async def test_killed_while_the_log_is_folded_into_the_file(tmp_path: Path) -> None:
    await live_and_die(family_named("sqlite"), tmp_path, ["-m", "tests.kg.sqlite_impl.checkpoint_child"])
