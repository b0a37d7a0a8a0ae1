"""Exports: what is in the graph is in the file, and a spreadsheet runs nothing of it."""

from __future__ import annotations

import ast
import csv
import sys
from pathlib import Path

import pytest

from lightrag.exceptions import InputError, MissingDependencyError, ScopeError, StorageError
from lightrag.graph.create import create_entity
from lightrag.graph.export import export_graph
from tests.graph.workspace import Fact, Workspace


async def filled(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("Ada", "Bea", 'said "yes", and | no\nmore', keywords="=1+1")])
    await create_entity(workspace.context, workspace.state, "=cmd()", {"description": "+1"})


def sections(path: Path) -> dict[str, list[dict[str, str]]]:
    parts: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("# "):
            current = parts.setdefault(line[2:].strip(), [])
        elif line.strip():
            current.append(line)
    return {title: list(csv.DictReader(lines)) for title, lines in parts.items()}


async def test_csv(workspace: Workspace, tmp_path: Path) -> None:
    await filled(workspace)
    path = tmp_path / "new folder" / "graph.csv"
    await export_graph(workspace.context, str(path))
    found = sections(path)
    assert list(found) == ["ENTITIES", "RELATIONS"]
    entities = {row["entity_name"]: row for row in found["ENTITIES"]}
    assert list(found["ENTITIES"][0]) == ["entity_name", "source_id", "graph_data"]
    assert set(entities) == {"'=cmd()", "Ada", "Bea"}
    data = ast.literal_eval(entities["Ada"]["graph_data"])
    assert data["description"] == 'Ada: said "yes", and | no\nmore'
    assert data["file_path"] == "d1.md"
    assert "evidence_count" not in data
    (relation,) = found["RELATIONS"]
    assert (relation["src_entity"], relation["tgt_entity"], relation["source_id"]) == ("Ada", "Bea", "d1-chunk-000")
    assert not list(tmp_path.rglob("*.part"))


async def test_vectors_on_demand(workspace: Workspace, tmp_path: Path) -> None:
    await filled(workspace)
    path = tmp_path / "graph.csv"
    await export_graph(workspace.context, str(path), include_vector_data=True)
    row = next(row for row in sections(path)["ENTITIES"] if row["entity_name"] == "Bea")
    data = ast.literal_eval(row["vector_data"])
    assert data["content"].startswith("Bea\n")
    assert len(data["vector"]) == workspace.embedder.dimension


async def test_markdown_has_one_line_for_each_row(workspace: Workspace, tmp_path: Path) -> None:
    await filled(workspace)
    path = tmp_path / "graph.md"
    await export_graph(workspace.context, str(path), "md")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Entities"
    assert [line for line in lines if line.startswith("| Ada | Bea |")]
    assert all(line.replace("\\|", "").count("|") in (4, 5) for line in lines if line.startswith("|"))


async def test_text(workspace: Workspace, tmp_path: Path) -> None:
    await filled(workspace)
    path = tmp_path / "graph.txt"
    await export_graph(workspace.context, str(path), "txt")
    text = path.read_text(encoding="utf-8")
    assert "entity_name: Ada\n" in text
    assert "  file_path: d1.md\n" in text
    assert "src_entity: Ada\ntgt_entity: Bea\n" in text


async def test_excel_holds_text_and_no_formula(workspace: Workspace, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed; extra export")
    await filled(workspace)
    long = "x" * 40_000
    await create_entity(workspace.context, workspace.state, "Long", {"description": long})
    path = tmp_path / "graph.xlsx"
    await export_graph(workspace.context, str(path), "excel")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Entities", "Relations"]
    rows = list(book["Entities"].iter_rows(min_row=2))
    assert [row[0].value for row in rows] == ["=cmd()", "Ada", "Bea", "Long"]
    assert {cell.data_type for row in rows for cell in row} == {"s"}
    assert rows[3][2].value.endswith("…")
    assert len(rows[3][2].value) == 32_767


async def test_excel_says_what_is_missing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match="export"):
        await export_graph(workspace.context, str(tmp_path / "graph.xlsx"), "excel")
    assert not list(tmp_path.iterdir())


async def test_one_partition_at_a_time(scoped_workspace: Workspace, tmp_path: Path) -> None:
    await scoped_workspace.add("d1", [Fact("A", "B", "one")], tags=["tenant:1"])
    await scoped_workspace.add("d2", [Fact("A", "C", "two")], tags=["tenant:2"])
    path = tmp_path / "graph.csv"
    await export_graph(scoped_workspace.context, str(path), tenant_tag="tenant:1")
    found = sections(path)
    assert [row["entity_name"] for row in found["ENTITIES"]] == ["A", "B"]
    assert len(found["RELATIONS"]) == 1
    assert ast.literal_eval(found["ENTITIES"][0]["graph_data"])["tenant_tag"] == "tenant:1"
    assert "two" not in path.read_text(encoding="utf-8")
    await export_graph(scoped_workspace.context, str(path))
    assert [row["entity_name"] for row in sections(path)["ENTITIES"]] == ["A", "B", "C"]
    assert "\x1f" not in path.read_text(encoding="utf-8")
    with pytest.raises(ScopeError):
        await export_graph(scoped_workspace.context, str(path), tenant_tag="x y")


async def test_refusals(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'pdf'; allowed are csv, excel, md, txt"):
        await export_graph(workspace.context, str(tmp_path / "graph.pdf"), "pdf")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="cannot write"):
        await export_graph(workspace.context, str(tmp_path / "file" / "graph.csv"))


async def test_a_failed_export_leaves_the_old_file(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(workspace)
    path = tmp_path / "graph.csv"
    path.write_text("old")

    async def fail(*_: object, **__: object) -> None:
        raise StorageError("gone")

    monkeypatch.setattr(workspace.context.stores.graph, "get_nodes_batch", fail)
    with pytest.raises(StorageError, match="gone"):
        await export_graph(workspace.context, str(path))
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["graph.csv"]
    monkeypatch.undo()
