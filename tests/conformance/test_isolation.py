"""Two engines share nothing unless working_dir and workspace are the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.exceptions import InputError
from tests.conformance.families import DIMENSION, Workspace

ONES = np.ones(DIMENSION, dtype=np.float32)
Open = Callable[..., Workspace]


async def write(workspace: Workspace, text: str) -> None:
    await (await workspace.kv()).upsert({"a": {"text": text}})
    await (await workspace.doc_status()).upsert({"a": {"status": "failed", "created_at": text, "file_path": text}})
    await (await workspace.vectors()).upsert({"a": {"content": text, "vector": ONES}})
    await (await workspace.graph()).upsert_edge("a", text, {"text": text})
    await (await workspace.evidence()).add([Evidence(ObjectKind.ENTITY, "a", "c", "d", text)])


async def read(workspace: Workspace) -> list[str]:
    kv = await (await workspace.kv()).get_by_id("a")
    status = await (await workspace.doc_status()).get_by_id("a")
    vectors = await (await workspace.vectors()).query("", 5, ONES)
    labels = await (await workspace.graph()).get_all_labels()
    evidence = await (await workspace.evidence()).of_documents(["d"])
    return [
        *([kv["text"]] if kv else []),
        *([status["file_path"]] if status else []),
        *(row["content"] for row in vectors),
        *(label for label in labels if label != "a"),
        *(row.description for row in evidence),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("same", "one"), ("same", "two")),
        (("", "one"), ("", "two")),
        (("one", ""), ("two", "")),
        (("", ""), ("inner", "")),
        (("Name", ""), ("other", "")),
        (("ünïcode 日本", ""), ("x", "ünïcode 日本")),
    ],
)
async def test_other_folder_or_other_workspace(
    open_workspace: Open, first: tuple[str, str], second: tuple[str, str]
) -> None:
    one, two = open_workspace(*first), open_workspace(*second)
    await write(one, "one")
    assert await read(two) == []
    await write(two, "two")
    assert await read(one) == ["one"] * 5
    assert await read(two) == ["two"] * 5
    for store in two.opened:
        assert (await store.drop())["status"] == "success"
    assert await read(two) == []
    assert await read(one) == ["one"] * 5


async def test_same_folder_and_workspace_share_everything(open_workspace: Open) -> None:
    one, two = open_workspace("w", "folder"), open_workspace("w", "folder/../folder")
    await write(one, "text")
    assert await read(two) == ["text"] * 5
    await write(two, "text")
    await one.close()
    assert await read(two) == ["text"] * 5


@pytest.mark.parametrize("name", ["a/b", "a\\b", ".", "..", "../x", "nul\0", "tab\t", "/", "\ud800", "x" * 300])
async def test_workspaces_that_are_no_plain_name_are_refused(open_workspace: Open, name: str) -> None:
    workspace = open_workspace(name)
    with pytest.raises(InputError):
        await workspace.kv()
    # A family in files has made none, one on a server never does.
    assert not list(workspace.working_dir.iterdir())
