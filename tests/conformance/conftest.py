from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path

import pytest
import pytest_asyncio

from tests.conformance.families import FAMILIES, Family, Workspace

# Ids that a store must bring back letter for letter.
HOSTILE_IDS = (
    "plain",
    " ",
    "  spaces at both ends  ",
    "quote ' double \" back`tick",
    "'; DROP TABLE texts; --",
    "per%cent under_score * ? [a-z]",
    "back\\slash /slash",
    "\\u0000 as six letters",
    "tab\tnewline\nreturn\r",
    "scoped\x1ftenant:1",
    "control \x01 \x7f \x1c",
    "{json: [1, 2]}",
    "<SEP>",
    "日本語 中文 한국어",
    "ﷺ عربى",
    "emoji 👩‍👩‍👧 🏴",
    "combining e\u0301 and \u00e9",
    "line\u2028separator",
    "replacement \ufffd and \uffff",
    "CASE",
    "case",
    "0",
    "1.0",
    "null",
    "x" * 5000,
    # As long, but no compression makes it fit into an entry of an index.
    "".join(sha256(str(number).encode()).hexdigest() for number in range(79))[:5000],
)

# Ids that no store can hold.
IMPOSSIBLE_IDS = ("nul\0inside", "\0", "lone \ud800 surrogate", "\udfff")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "family" in metafunc.fixturenames:
        metafunc.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES], indirect=True)


@pytest.fixture
def family(request: pytest.FixtureRequest) -> Family:
    chosen: Family = request.param
    if chosen.unavailable:
        pytest.skip(chosen.unavailable)
    # A family on a server starts it now, so that processes which a test starts find it in the environment.
    chosen.place(Path())
    return chosen


@pytest_asyncio.fixture
async def open_workspace(family: Family, tmp_path: Path) -> AsyncIterator[Callable[..., Workspace]]:
    """Make workspaces, by default all in the same folder; everything opened is closed after the test."""
    made: list[Workspace] = []

    def make(name: str = "", folder: str = "") -> Workspace:
        workspace = Workspace(family, tmp_path / folder, name)
        made.append(workspace)
        return workspace

    yield make
    for workspace in made:
        await workspace.close()


@pytest.fixture
def workspace(open_workspace: Callable[..., Workspace]) -> Workspace:
    return open_workspace()
