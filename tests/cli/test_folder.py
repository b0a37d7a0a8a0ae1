"""Commands on a folder, through Typer's own runner."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from lightrag.cli import running
from lightrag.cli.commands.upkeep import FAMILIES
from lightrag.kg.registry import BACKENDS
from tests.cli.conftest import FILES, Run, write_files

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def corpus(store: Path) -> tuple[str, str]:
    return ("--dir", str(store))


def value(result: Any) -> Any:
    """Return the JSON that a command printed, and nothing else."""
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_ingest_tells_what_became_of_each_file(run: Run, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files")
    (folder / "picture.bin").write_bytes(b"\0\1\2")
    (folder / "broken.md").write_text("x")
    (folder / "broken.md.meta.json").write_text("{")
    result = run("ingest", "files", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["counts"] == {"processed": 4, "refused": 1, "skipped": 1}
    by_path = {row["source_path"]: row for row in told["files"]}
    assert by_path["files/act.md"]["id"].startswith("doc-")
    assert "files/broken.md.meta.json" in by_path["files/broken.md"]["message"]
    assert by_path["files/picture.bin"]["status"] == "skipped"
    again = run("ingest", "files", "--glob", "*.txt", "--glob", "act.*")
    assert again.exit_code == 0
    assert again.stdout == "2 already stored.\n"


def test_ingest_knows_files_whose_names_hold_hints(run: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.[native-!P].md").write_text("Ottoline Brandreth wrote to Jonas Ketterick.")
    told = value(run("ingest", "letter.[native-!P].md", "--json"))
    assert told["counts"] == {"processed": 1}
    assert value(run("documents", "show", "letter.md", "--json"))["source_path"] == "letter.md"
    again = run("ingest", "letter.[native-!P].md")
    assert again.stdout == "1 already stored.\n"
    assert value(run("documents", "list", "--json"))["pagination"]["total_count"] == 1


def test_ingest_takes_metadata_from_options_and_files(run: Run, tmp_path: Path) -> None:
    write_files(tmp_path)
    options = ("--tag", "Collection:X", "--start", "1930", "--zone", "Europe/London", "--doc-type", "note")
    result = run("ingest", "letter.md", "note.txt", *options, "--meta", "box=3", "--meta", '{"leaf": 7}')
    assert result.exit_code == 0, result.output
    assert result.stdout == "2 processed.\nDates are in the zone Europe/London.\n"
    note = value(run("documents", "show", "note.txt", "--json"))
    assert (note["start_date"], note["end_date"]) == ("1930-01-01T00:00:00+00:00", None)
    assert (note["tags"], note["doc_type"]) == (["collection:x"], "note")
    assert note["meta"] == {"box": "3", "leaf": 7}
    assert note["modified_at"] == "2023-11-14T22:13:20+00:00"
    letter = value(run("documents", "show", "letter.md", "--json"))
    assert (letter["start_date"], letter["doc_type"]) == ("1926-03-02T00:00:00Z", "letter")
    assert letter["tags"] == ["collection:x", "type:letter", "place:velmouth"]
    assert letter["meta"] == {"box": "14", "leaf": 7}


def test_a_scope_tag_that_normalising_would_alter_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGHTRAG_SCOPE_TAG_PREFIXES", "tenant:")
    write_files(tmp_path)
    result = run("ingest", "note.txt", "--tag", "tenant:a/b")
    assert result.exit_code == 1
    assert "would become 'tenant:a_b'" in result.stderr
    assert run("ingest", "note.txt", "--tag", "tenant:a_b").exit_code == 0
    result = run("documents", "set-metadata", "note.txt", "--add-tag", "tenant:a/b")
    assert result.exit_code == 2
    assert "would become 'tenant:a_b'" in result.stderr


def test_ingest_without_wait_leaves_files_for_the_next_one(run: Run, tmp_path: Path) -> None:
    write_files(tmp_path)
    assert run("ingest", "note.txt", "--no-wait").stdout == "1 stored and waiting.\n"
    assert value(run("documents", "list", "--status", "pending", "--json"))["pagination"]["total_count"] == 1
    assert run("ingest", "note.txt").stdout == "1 processed.\n"


def test_a_file_that_fails_is_told_and_can_be_tried_again(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_bytes(b"%PDF-1.7 lying suffix \0\1")
    result = run("ingest", "page.md")
    assert result.exit_code == 1
    assert result.stdout == "1 failed.\n"
    assert result.stderr.splitlines()[-1].startswith("page.md: failed: ")
    again = run("ingest", "page.md")
    assert again.exit_code == 1
    assert "`lightrag documents retry` tries it again" in again.stderr
    (tmp_path / "page.md").write_text(FILES["note.txt"][0])
    retried = value(run("documents", "retry", "--json"))
    assert retried["counts"] == {"processed": 1}
    assert run("documents", "retry").stdout == "There is nothing to try again.\n"


def test_failed_documents_can_be_tried_again_one_by_one(run: Run, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_bytes(b"%PDF-1.7 lying suffix \0\1" + name.encode())
    run("ingest", "a.md", "b.md")
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"{name}: {FILES['note.txt'][0]}")
    assert run("documents", "retry", "a.md").stdout == "1 documents were tried again, 1 are processed.\n"
    assert value(run("documents", "list", "--json"))["status_counts"]["failed"] == 1
    refused = run("documents", "retry", "b.md", "a.md")
    assert refused.exit_code == 2
    assert "a.md has not failed, it is processed; nothing was tried again" in refused.stderr
    assert run("documents", "retry", "b.md").exit_code == 0


def test_query_streams_an_answer_and_prints_its_sources(run: Run, corpus: tuple[str, str]) -> None:
    result = run("query", "How long does the ferry need at spring tide?", *corpus)
    assert result.exit_code == 0, result.output
    answer, _, sources = result.stdout.partition("\nReferences\n")
    assert "eleven minutes" in answer
    assert "###" not in answer
    cited = [line for line in sources.splitlines() if "*" in line]
    assert any("reply.md" in line for line in cited)
    whole = run("query", "How long does the ferry need at spring tide?", "--no-stream", *corpus)
    assert whole.stdout == result.stdout


def test_query_is_limited_by_a_filter(run: Run, corpus: tuple[str, str]) -> None:
    question = ("query", "What of the ferry and the dues in Velmouth?")
    limits = ("--require", "type:act", "--at", "1930-06-15", "--preset", "legislation-in-force", "--zone", "UTC")
    result = run(*question, *limits, *corpus)
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "Only documents tagged type:act; at 1930-06-15T12:00:00+00:00, having a start; zone UTC\n\n"
    )
    found = value(run(*question, *limits, "--json", *corpus))
    assert [row["file_path"] for row in found["references"]] == ["act.md"]
    assert found["zone"] == "UTC"
    assert found["filter"]["date_filter"]["range_mode"] == "contains"
    assert found["llm_generated"] is True


def test_query_whose_filter_leaves_nothing_says_so(run: Run, corpus: tuple[str, str]) -> None:
    result = run("query", "What of the ferry?", "--at", "1800-01-01", *corpus)
    assert result.exit_code == 0
    assert "hold nothing that answers" in result.stdout
    assert "References" not in result.stdout


def test_query_can_print_the_context(run: Run, corpus: tuple[str, str]) -> None:
    result = run("query", "How long does the ferry need?", "--mode", "naive", "--only-context", *corpus)
    assert result.exit_code == 0
    assert "## Passages of the documents" in result.stdout


def test_preview_and_facets(run: Run, corpus: tuple[str, str]) -> None:
    found = value(run("preview", "--from", "1926-03-05", "--to", "1927", "--json", *corpus))
    assert (found["eligible_documents"], found["total_documents"]) == (1, 4)
    assert [row["file_path"] for row in found["examples"]] == ["reply.md"]
    shown = run("preview", "--undated", "only", *corpus).stdout
    assert shown.startswith("Only documents without any date\n\n1 of 4 documents, 1 chunks.\n")
    facets = value(run("facets", "--json", *corpus))
    assert facets["tags"]["type"] == {"letter": 2, "act": 1}
    shown = run("facets", *corpus).stdout
    assert "4 documents, 1 of them without any date." in shown
    assert "type:letter" in shown


def test_documents_are_listed_page_by_page(run: Run, corpus: tuple[str, str]) -> None:
    found = value(run("documents", "list", "--sort", "file_path", "--ascending", "--json", *corpus))
    assert [row["file_path"] for row in found["documents"]] == sorted(FILES)
    assert found["pagination"]["total_pages"] == 1
    shown = run("documents", "list", "--require", "type:letter", "--ids", *corpus).stdout.splitlines()
    assert shown[0] == "Only documents tagged type:letter"
    assert shown[2].split() == ["Document", "Status", "Dates", "Tags", "Chunks", "Id"]
    assert any("1926-03-09" in line and "doc-" in line for line in shown)
    assert shown[-1] == "Page 1 of 1, 2 documents."


def test_a_document_is_found_by_path_and_by_id(run: Run, corpus: tuple[str, str]) -> None:
    by_path = value(run("documents", "show", "act.md", "--json", *corpus))
    assert value(run("documents", "show", by_path["id"], "--json", *corpus)) == by_path
    assert "type:act, place:velmouth" in run("documents", "show", "act.md", *corpus).stdout


def test_metadata_of_a_document_changes(run: Run, tmp_path: Path) -> None:
    write_files(tmp_path)
    assert run("ingest", "letter.md", "act.md").exit_code == 0
    change = ("documents", "set-metadata", "letter.md", "--json")
    tags = ("--add-tag", "status:read", "--remove-tag", "place:velmouth")
    changed = value(run(*change, *tags, "--end", "1926-03", "--zone", "UTC"))
    assert changed["tags"] == ["type:letter", "status:read"]
    assert (changed["start_date"], changed["end_date"]) == ("1926-03-02T00:00:00Z", "1926-03-31T23:59:59.999000+00:00")
    cleared = value(run(*change, "--clear", "start", "--clear", "end", "--clear", "meta", "--tag", "x"))
    assert (cleared["start_date"], cleared["end_date"], cleared["meta"]) == (None, None, {})
    assert cleared["tags"] == ["x"]
    assert value(run("preview", "--undated", "only", "--json"))["eligible_documents"] == 1


def test_documents_are_deleted(run: Run, tmp_path: Path) -> None:
    write_files(tmp_path)
    assert run("ingest", "letter.md", "act.md", "note.txt").exit_code == 0
    refused = run("documents", "delete", "letter.md")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    result = run("documents", "delete", "letter.md", "act.md", "--yes")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["letter.md", "act.md"]
    assert [row["file_path"] for row in value(run("documents", "list", "--json"))["documents"]] == ["note.txt"]
    missing = run("documents", "delete", "note.txt", "nothing.md", "--yes")
    assert missing.exit_code == 1
    assert "no document 'nothing.md'" in missing.stderr
    assert value(run("documents", "list", "--json"))["pagination"]["total_count"] == 1


@pytest.mark.parametrize("command", ["", "query", "ingest", "documents", "documents list", "scopes rebuild"])
def test_help_shows_a_value_only_where_one_follows(run: Run, command: str) -> None:
    shown = run(*command.split(), "--help").stdout
    assert "--help" in shown
    assert "bool" not in shown


def test_graph_of_an_entity(run: Run, corpus: tuple[str, str]) -> None:
    found = value(run("graph", "show", "Jonas Ketterick", "--json", *corpus))
    assert "Ottoline Brandreth" in [node["id"] for node in found["nodes"]]
    shown = run("graph", "show", "Jonas Ketterick", *corpus).stdout
    assert "Entities\n" in shown
    assert "Relations\n" in shown
    # What is no terminal has no width: a row is a line, and none is filled with blanks up to the longest.
    assert len({len(line) for line in shown.splitlines() if line}) > 3
    assert not [line for line in shown.splitlines() if line != line.rstrip()]
    missing = run("graph", "show", "Ketteric", *corpus)
    assert missing.exit_code == 1
    assert "'Ketteric'; similar are 'Jonas Ketterick'" in missing.stderr
    everything = value(run("graph", "show", "*", "--nodes", "2", "--json", *corpus))
    assert (len(everything["nodes"]), everything["is_truncated"]) == (2, True)


def test_scopes_are_listed_rebuilt_and_taken_away(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    assert run("ingest", "letter.md", "act.md", "--tag", "tenant:1").exit_code == 0
    assert "There are no scopes" in run("scopes", "list").stdout
    monkeypatch.setenv("LIGHTRAG_SCOPE_TAG_PREFIXES", "tenant:")
    monkeypatch.setenv("LIGHTRAG_KG_SCOPE_MATERIALIZATION", "true")
    rebuilt = value(run("scopes", "rebuild", "--json"))
    assert (rebuilt["documents"], rebuilt["changed"]) == (2, 2)
    listed = value(run("scopes", "list", "--json"))["scopes"]
    assert [(row["scope"], row["entities"] > 0) for row in listed] == [("tenant:1", True)]
    scoped = value(run("graph", "show", "Jonas Ketterick", "--scope", "tenant:1", "--json"))
    assert "Jonas Ketterick" in [node["id"] for node in scoped["nodes"]]
    monkeypatch.delenv("LIGHTRAG_KG_SCOPE_MATERIALIZATION")
    refused = run("scopes", "rebuild")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert value(run("scopes", "rebuild", "--yes", "--json"))["scopes"] == {}


def test_check_finds_and_mends(run: Run, tmp_path: Path, store: Path) -> None:
    assert run("check", "--dir", store).stdout == "All agree.\n"
    write_files(tmp_path)
    assert run("ingest", "letter.md").exit_code == 0
    damage(tmp_path / "rag_storage")
    found = run("check", "--json")
    assert found.exit_code == 1
    assert "Jonas Ketterick" in " ".join(json.loads(found.stdout)["found"])
    mended = run("check", "--repair")
    assert mended.exit_code == 0, mended.output
    assert "0 are left." in mended.stdout
    assert run("check").stdout == "All agree.\n"


def damage(folder: Path) -> None:
    """Take an entity's vector away."""
    from lightrag.cli.options import FolderOptions
    from lightrag.cli.output import Output
    from lightrag.graph.change import entity_vector_id

    async def work(engine: Any) -> None:
        await engine.entities_vdb.delete([entity_vector_id("Jonas Ketterick")])

    running.work_in_folder(FolderOptions(folder), Output(), work)


def test_export_by_suffix(run: Run, corpus: tuple[str, str], tmp_path: Path) -> None:
    result = run("export", "graph.csv", *corpus)
    assert result.exit_code == 0
    assert "Jonas Ketterick" in (tmp_path / "graph.csv").read_text()
    assert value(run("export", "graph.dat", "--format", "md", "--json", *corpus))["format"] == "md"
    assert run("export", "graph.dat", *corpus).exit_code == 2
    (tmp_path / "taken.csv").mkdir()
    assert run("export", "taken.csv", *corpus).exit_code == 1


def test_migrate_to_files_and_back(run: Run, corpus: tuple[str, str]) -> None:
    there = value(run("migrate", "--from", "sqlite", "--to", "files", "--to-dir", "files", "--json", *corpus))
    assert there["counts"]["doc_status"] == 4
    back = run("migrate", "--dir", "files", "--to-dir", "again")
    assert back.exit_code == 0, back.output
    assert "Everything is there." in back.stdout
    listed = [value(run("documents", "list", "--json", "--dir", place))["documents"] for place in (corpus[1], "again")]
    assert listed[0] == listed[1]
    same = run("migrate", "--from", "sqlite", *corpus)
    assert same.exit_code == 2
    assert "the same" in same.stderr
    wrong = run("migrate", "--from", "files", "--to", "sqlite", "--dir", corpus[1], "--to-dir", "third")
    assert wrong.exit_code == 2
    assert "holds nothing that 'NanoVectorDBStorage' wrote; is it the right folder" in wrong.stderr
    assert not Path("third").exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_storages_that_exist(family: str) -> None:
    for setting, name in FAMILIES[family].items():
        assert BACKENDS[name].kind == setting.removesuffix("_storage")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nothing"], 2, "No such command 'nothing'"),
        (["query"], 2, "Missing argument"),
        (["documents"], 2, "Missing command"),
        (["query", "x", "--nothing"], 2, "--nothing"),
        (["query", "What?", "--mode", "fast"], 2, "allowed are local, global"),
        (["query", "What?", "--at", "soon"], 2, "--at 'soon' is no date"),
        (["query", "What?"], 1, "there is no corpus in"),
        (["query", "What?", "--dir", "nowhere"], 1, "'nowhere'"),
        (["documents", "list", "--status", "lost"], 2, "allowed are pending"),
        (["documents", "set-metadata", "x"], 2, "nothing is to be changed"),
        (["documents", "set-metadata", "x", "--tag", "a", "--add-tag", "b"], 2, "--tag replaces all tags"),
        (["documents", "set-metadata", "x", "--clear", "name"], 2, "allowed are start, end"),
        (["ingest", "nothing.md"], 2, "nothing.md"),
        (["ingest", "."], 2, "there is no file to ingest; --recursive"),
        (["query", "What?", "--server", "http://x", "--dir", "y"], 2, "--dir is for a corpus in a folder"),
        (["query", "What?", "--server", "ftp://x"], 2, "is no address"),
        (["migrate", "--from", "oracle"], 2, "allowed are sqlite, files"),
        (["migrate", "--dir", "nowhere"], 1, "no folder 'nowhere'"),
    ],
)
def test_errors_are_one_plain_line(run: Run, arguments: list[str], code: int, told: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("lightrag: ")
    assert told in line


def test_a_workspace_that_does_not_exist_is_not_made(run: Run, store: Path) -> None:
    result = run("documents", "list", "--dir", store, "--workspace", "other")
    assert result.exit_code == 1
    assert "no workspace 'other'" in result.stderr
    assert not (store / "other").exists()


def test_workspaces_are_apart(run: Run, tmp_path: Path) -> None:
    write_files(tmp_path)
    assert run("ingest", "note.txt", "-w", "one").exit_code == 0
    assert run("ingest", "act.md", "-w", "two").exit_code == 0
    assert [row["file_path"] for row in value(run("documents", "list", "-w", "one", "--json"))["documents"]] == [
        "note.txt"
    ]


def test_names_cannot_drive_the_terminal(run: Run, tmp_path: Path) -> None:
    name = "evil\x1b[31m\x07.txt"
    (tmp_path / name).write_text(FILES["note.txt"][0])
    assert run("ingest", name).exit_code == 0
    for shown in (run("documents", "list"), run("query", "Who trimmed the tide lamp?")):
        assert "evil" in shown.stdout
        assert "\x1b" not in shown.output
        assert "\x07" not in shown.output


def test_examples_of_the_readme(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Use it from a shell")[2]
    block = section.partition("```bash\n")[2].partition("```")[0]
    lines = [shlex.split(line) for line in block.splitlines() if line.startswith("lightrag ")]
    monkeypatch.chdir(ROOT)
    results = {line[1]: run(*line[1:], "--dir", tmp_path / "store") for line in lines}
    for name, result in results.items():
        assert result.exit_code == 0, (name, result.output)
    assert results["ingest"].stdout.startswith("1 processed.")
    assert "1 of 2 documents" in results["preview"].stdout
    assert "act-1928-harbour-and-bridge.md" in results["query"].stdout
    assert "act-1903-harbour.md" not in results["query"].stdout


@pytest.mark.parametrize(
    "words",
    [
        ("documents", "list"),
        ("documents", "show", "act.md"),
        ("preview", "--require", "type:act"),
        ("facets",),
        ("scopes", "list"),
        ("graph", "show", "Velmouth"),
        ("check",),
        ("export", "graph.csv"),
    ],
    ids=" ".join,
)
def test_looking_needs_no_model_of_the_corpus(
    run: Run, corpus: tuple[str, str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("EMBEDDING_BINDING", "openai")
    monkeypatch.setenv("EMBEDDING_MODEL", "text-embedding-3-large")
    monkeypatch.setenv("EMBEDDING_DIM", "3072")
    result = run(*words, *corpus)
    assert result.exit_code == 0, result.output
    refused = run("query", "What burns in the tide lamp?", *corpus)
    assert refused.exit_code == 1
    assert "3072" in refused.stderr
