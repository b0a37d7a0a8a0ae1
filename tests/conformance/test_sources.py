"""Source paths that several documents have, in every family and with what the contract offers to a new store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from lightrag.contracts.doc_status import BaseDocStatusStorage, DocProcessingStatus, DocStatus
from lightrag.contracts.sources import (
    CURSOR_END,
    CURSOR_START,
    CursorAfter,
    SourceAbsent,
    SourceConflict,
    SourceConflictRepairResult,
    SourceUnique,
)
from lightrag.exceptions import InputError, SourceConflictRepairCASError, StorageError
from tests.conformance.families import FAMILIES, Workspace
from tests.fakes.kv import FakeDocStatusStorage

NEW_STORE = "a store that only has what it must have"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # The suite's own parameters are replaced: a store that overrides nothing is one more.
    if "status" in metafunc.fixturenames:
        metafunc.parametrize("status", [*(family.name for family in FAMILIES), NEW_STORE], indirect=True)


@pytest_asyncio.fixture
async def status(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    if request.param == NEW_STORE:
        store = FakeDocStatusStorage(namespace="doc_status", workspace="", global_config={})
        await store.initialize()
        yield store
        return
    family = next(family for family in FAMILIES if family.name == request.param)
    if family.unavailable:
        pytest.skip(family.unavailable)
    workspace = Workspace(family, tmp_path)
    yield await workspace.doc_status()
    await workspace.close()


def row(number: int, path: str, state: DocStatus = DocStatus.PROCESSED, **metadata: Any) -> dict[str, Any]:
    return DocProcessingStatus(
        content_summary=f"summary {number}",
        content_length=number,
        file_path=path,
        status=state,
        created_at=f"2024-01-01T00:00:00.{number:06}+00:00",
        updated_at=f"2024-01-01T00:00:00.{number:06}+00:00",
        track_id="track",
        content_hash=f"hash-{number}",
        metadata=metadata,
    ).to_row()


async def fill(store: BaseDocStatusStorage) -> None:
    await store.upsert(
        {
            "late": row(3, "x.md", DocStatus.PENDING, user_tags=["kept"]),
            "early": row(2, "x.md", DocStatus.FAILED),
            "in-folder": row(1, "a/x.md"),
            "dup-refused": row(4, "x.md", DocStatus.FAILED),
            "marked": row(5, "x.md", DocStatus.FAILED, is_duplicate=True),
            "alone": row(6, "y.md"),
            "z1": row(7, "a/z.md"),
            "z2": row(8, "a/z.md"),
            "nameless-1": row(9, "unknown_source"),
            "nameless-2": row(10, "unknown_source"),
            "pathless-1": row(11, ""),
            "pathless-2": row(12, ""),
        }
    )


async def test_a_path_stands_for_none_one_or_several(status: BaseDocStatusStorage) -> None:
    await fill(status)
    assert await status.resolve_doc_source_strict("x.md") == SourceConflict(2, ("early", "late"))
    unique = await status.resolve_doc_source_strict("a/x.md")
    assert isinstance(unique, SourceUnique)
    assert (unique.doc_id, unique.doc.status, unique.doc.file_path) == ("in-folder", DocStatus.PROCESSED, "a/x.md")
    for absent in ("nobody.md", "", "unknown_source"):
        assert await status.resolve_doc_source_strict(absent) == SourceAbsent()


async def test_a_document_is_found_by_the_last_part_of_its_path(status: BaseDocStatusStorage) -> None:
    await fill(status)
    wanted = {"x.md": "early", "y.md": "alone", "z.md": "z1", "a/z.md": "z1"}
    for name, doc_id in wanted.items():
        found = await status.get_doc_by_file_basename(name)
        assert found is not None
        assert found[0] == doc_id
    await status.upsert({"odd": row(20, "a/50%_[x].md")})
    assert (await status.get_doc_by_file_basename("50%_[x].md") or ("",))[0] == "odd"
    for absent in ("md", "", "unknown_source", "%", "50%%[x].md"):
        assert await status.get_doc_by_file_basename(absent) is None


async def test_rows_by_id_and_their_number_by_state(status: BaseDocStatusStorage) -> None:
    await fill(status)
    await status.upsert({"half": row(30, "h.md", DocStatus.FAILED, custom_chunk_patch={"mode": "create"})})
    records = await status.get_docs_by_ids(["late", "nobody", "half", "late"])
    assert list(records) == ["late", "half"]
    assert [record.has_custom_chunk_journal for record in records.values()] == [False, True]
    assert (records["late"].id, records["late"].track_id, records["late"].created_at[-13:-6]) == (
        "late",
        "track",
        ".000003",
    )
    whole = await status.get_full_docs_by_ids(["alone", "nobody"], strict=True)
    assert whole == {"alone": DocProcessingStatus.from_row(row(6, "y.md"))}
    assert await status.count_docs_by_statuses([DocStatus.PENDING, DocStatus.FAILED, DocStatus.FAILED]) == 5
    assert await status.count_docs_by_statuses([]) == 0


async def test_conflicts_are_listed_by_path_page_by_page(status: BaseDocStatusStorage) -> None:
    await fill(status)
    page = await status.list_source_conflicts_page(limit=1)
    assert [(item.canonical_source_key, item.candidate_count, item.sample_doc_ids) for item in page.conflicts] == [
        ("a/z.md", 2, ("z1", "z2"))
    ]
    assert isinstance(page.next_position, CursorAfter)
    rest = await status.list_source_conflicts_page(limit=1, position=page.next_position)
    assert [item.canonical_source_key for item in rest.conflicts] == ["x.md"]
    assert rest.next_position is CURSOR_END
    assert (await status.list_source_conflicts_page(limit=9, position=CURSOR_END)).conflicts == ()
    whole = await status.list_source_conflicts_page(limit=2, position=CURSOR_START)
    assert len(whole.conflicts) == 2
    assert whole.next_position is CURSOR_END
    with pytest.raises(InputError, match="limit 0 must be 1 or more"):
        await status.list_source_conflicts_page(limit=0)


async def test_a_conflict_of_many_documents_names_some(status: BaseDocStatusStorage) -> None:
    await status.upsert({f"d{number:03}": row(number, "x.md") for number in range(100)})
    page = await status.list_source_conflicts_page(limit=5)
    assert page.conflicts[0].candidate_count == 100
    assert page.conflicts[0].sample_doc_ids == tuple(f"d{number:03}" for number in range(20))


async def repair(store: BaseDocStatusStorage, primary: str, **changes: Any) -> SourceConflictRepairResult:
    expected = {"expected_candidate_count": 0, "expected_candidate_fingerprint": "", **changes}
    return await store.repair_source_conflict("x.md", primary_doc_id=primary, **expected)


async def commit(store: BaseDocStatusStorage, primary: str, seen: SourceConflictRepairResult) -> Any:
    return await repair(
        store,
        primary,
        expected_candidate_count=seen.candidate_count,
        expected_candidate_fingerprint=seen.fingerprint,
        dry_run=False,
    )


async def test_a_repair_is_tried_then_made(status: BaseDocStatusStorage) -> None:
    await fill(status)
    before = dict(await status.scan())
    tried = await repair(status, "late")
    assert (tried.candidate_count, tried.demoted_sample_doc_ids, tried.committed) == (2, ("early",), False)
    assert dict(await status.scan()) == before

    made = await commit(status, "late", tried)
    assert made.committed
    assert made.fingerprint == tried.fingerprint
    unique = await status.resolve_doc_source_strict("x.md")
    assert isinstance(unique, SourceUnique)
    assert unique.doc_id == "late"
    assert (await status.get_doc_by_file_path("x.md") or ("",))[0] == "late"
    demoted = await status.get_by_id("early")
    assert demoted is not None
    assert demoted["metadata"] == {
        "is_duplicate": True,
        "duplicate_kind": "source_conflict",
        "original_doc_id": "late",
    }
    assert demoted["status"] == "failed"
    after = dict(await status.scan())
    assert {key for key in before if before[key] != after[key]} == {"early"}


async def test_a_repair_keeps_what_a_document_says_about_itself(status: BaseDocStatusStorage) -> None:
    await fill(status)
    await commit(status, "early", await repair(status, "early"))
    demoted = await status.get_by_id("late")
    assert demoted is not None
    assert demoted["metadata"]["user_tags"] == ["kept"]
    facts = (await status.get_facts(["late"]))["late"]
    assert facts.tags == ("kept",)


async def test_a_repair_of_what_has_changed_meanwhile_does_nothing(status: BaseDocStatusStorage) -> None:
    await fill(status)
    seen = await repair(status, "early")
    await status.upsert({"newer": row(40, "x.md")})
    before = await status.scan()
    with pytest.raises(SourceConflictRepairCASError, match=r"'x.md' have changed .* \(now 3, expected 2\)"):
        await commit(status, "early", seen)
    # As many, but others.
    await status.delete(["late"])
    with pytest.raises(SourceConflictRepairCASError):
        await commit(status, "early", seen)
    assert dict(await status.scan()) == {key: value for key, value in before if key != "late"}


async def test_only_one_of_two_repairs_at_once_is_made(status: BaseDocStatusStorage) -> None:
    await fill(status)
    seen = await repair(status, "early")
    outcomes = await asyncio.gather(commit(status, "early", seen), commit(status, "late", seen), return_exceptions=True)
    made = [outcome for outcome in outcomes if isinstance(outcome, SourceConflictRepairResult)]
    assert len(made) == 1
    unique = await status.resolve_doc_source_strict("x.md")
    assert isinstance(unique, SourceUnique)
    assert unique.doc_id == made[0].primary_doc_id


async def test_a_repair_names_a_document_of_that_path(status: BaseDocStatusStorage) -> None:
    await fill(status)
    for other in ("alone", "nobody", "marked"):
        with pytest.raises(
            InputError, match=f"{other!r} does not have the source path 'x.md'; these have: 'early', 'late'"
        ):
            await repair(status, other)


async def test_strict_reads(status: BaseDocStatusStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(status)
    monkeypatch.setattr(type(status), "supports_strict_point_reads", True)
    assert await status.get_by_id_strict("nobody") is None
    assert (await status.get_by_id_strict("alone") or {})["file_path"] == "y.md"
    monkeypatch.setattr(type(status), "supports_strict_point_reads", False)
    with pytest.raises(StorageError, match="cannot tell a row that is missing from one that cannot be read"):
        await status.get_by_id_strict("alone")


async def test_the_stores_read_strictly(open_workspace: Callable[..., Workspace], family: Any) -> None:
    workspace = open_workspace()
    for store in (await workspace.kv(), await workspace.doc_status()):
        assert store.supports_strict_point_reads
        assert await store.get_by_id_strict("nobody") is None
