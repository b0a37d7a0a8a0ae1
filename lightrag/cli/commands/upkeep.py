"""``lightrag check``, ``migrate`` and ``export``: of a corpus in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightrag.cli.errors import FAILED
from lightrag.cli.grouping import examples, grouped
from lightrag.cli.options import FolderOptions
from lightrag.cli.output import Output
from lightrag.cli.progress import Bar, progressing
from lightrag.cli.running import run_to_end, work_in_folder
from lightrag.exceptions import InputError, NotFoundError

if TYPE_CHECKING:
    from lightrag.lightrag import LightRAG
    from lightrag.migrate import MigrationProgress, MigrationReport
    from lightrag.settings import Settings

FAMILIES: dict[str, dict[str, str]] = {
    "sqlite": {
        "kv_storage": "SQLiteKVStorage",
        "vector_storage": "SQLiteVectorDBStorage",
        "graph_storage": "SQLiteGraphStorage",
        "doc_status_storage": "SQLiteDocStatusStorage",
        "evidence_storage": "SQLiteEvidenceStorage",
    },
    "files": {
        "kv_storage": "JsonKVStorage",
        "vector_storage": "NanoVectorDBStorage",
        "graph_storage": "NetworkXStorage",
        "doc_status_storage": "JsonDocStatusStorage",
        "evidence_storage": "JsonEvidenceStorage",
    },
}
"""Families of storages that keep their data in the folder, by the name that ``migrate`` knows them by."""

FORMATS = {".csv": "csv", ".xlsx": "excel", ".md": "md", ".txt": "txt"}
"""Formats of ``export`` by the suffix of the file."""


@grouped
def check(
    folder: FolderOptions,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
) -> None:
    """Look whether documents, chunks, evidence, graph and vectors agree.

    Ends with exit code 1 when something does not agree, and after --repair when something is left that does not.
    """
    output = Output(folder.as_json, folder.verbose)
    left: list[str] = []

    async def work(engine: LightRAG) -> None:
        found = await engine.acheck(repair=repair)
        left.extend(await engine.acheck() if found and repair else found)
        if folder.as_json:
            output.value({"found": found, "left": left})
            return
        for sentence in found:
            output.line(f"- {sentence}")
        if not found:
            output.line("All agree.")
        elif repair:
            output.line(
                f"{len(found)} faults were found, {len(left)} are left." + "".join(f"\n- {one}" for one in left)
            )
        else:
            output.line(f"{len(found)} faults; --repair mends what can be mended.")

    work_in_folder(folder, output, work, embeds=repair)
    if left:
        raise typer.Exit(FAILED)


@dataclass(frozen=True)
class MigrateOptions:
    """From where to where.

    Attributes:
        source: Family that is read.
        target: Family that is written.
        target_directory: Folder that is written.
        target_workspace: Name of the corpus that is written.
    """

    source: Annotated[
        str, typer.Option("--from", metavar="FAMILY", help="Storages that are read: files or sqlite.")
    ] = "files"
    target: Annotated[str, typer.Option("--to", metavar="FAMILY", help="Storages that are written.")] = "sqlite"
    target_directory: Annotated[
        Path | None,
        typer.Option(
            "--to-dir", metavar="FOLDER", help="Folder that is written; otherwise the same.", show_default=False
        ),
    ] = None
    target_workspace: Annotated[
        str | None,
        typer.Option(
            "--to-workspace",
            metavar="NAME",
            help="Name of the corpus that is written; otherwise the same.",
            show_default=False,
        ),
    ] = None


@grouped
def migrate(how: MigrateOptions, folder: FolderOptions) -> None:
    """Copy a corpus from one family of storages to another; the source is only read.

    Nothing is read again and no model is asked. An interrupted copy is continued by the next call, and at the end
    everything is counted on both sides.
    """
    output = Output(folder.as_json, folder.verbose)
    source = _settings(how.source, folder.directory, folder.workspace)
    target = _settings(
        how.target,
        how.target_directory or folder.directory,
        folder.workspace if how.target_workspace is None else how.target_workspace,
    )
    places = [(one.kv_storage, Path(one.working_dir).resolve(), one.workspace) for one in (source, target)]
    if places[0] == places[1]:
        raise InputError("source and target are the same; give another family with --to, or another --to-dir")
    if not Path(source.working_dir).is_dir():
        raise NotFoundError(f"there is no folder {source.working_dir!r} to read from")
    report = run_to_end(output, lambda: _migrate(output, source, target))
    if folder.as_json:
        output.value({"counts": report.counts, "resumed": report.resumed})
        return
    output.table(("Copied", "#Count"), list(report.counts.items()))
    output.line(f"Everything is there{', some of it from an earlier call' if report.resumed else ''}.")


def _settings(family: str, directory: Path | None, workspace: str | None) -> Settings:
    from lightrag.settings import load_settings

    if family not in FAMILIES:
        raise InputError(f"there is no family of storages {family!r}; allowed are {', '.join(FAMILIES)}")
    given = {"working_dir": None if directory is None else str(directory), "workspace": workspace}
    return load_settings(**FAMILIES[family], **{name: value for name, value in given.items() if value is not None})


async def _migrate(output: Output, source: Settings, target: Settings) -> MigrationReport:
    from lightrag.migrate import migrate_workspace

    output.when_interrupted = "the copy is not whole; give the same command again to go on"
    bars: dict[str, Bar] = {}
    with progressing(output) as shown:

        def told(progress: MigrationProgress) -> None:
            bar = bars.get(progress.step)
            if bar is None:
                bar = bars[progress.step] = shown.bar(progress.step)
            bar.set(progress.done, progress.total)

        return await migrate_workspace(source, target, progress=told)


@dataclass(frozen=True)
class ExportOptions:
    """What is written.

    Attributes:
        file_format: Format; ``None`` for that of the suffix.
        scope: Scope tag; ``None`` for the whole graph.
        vectors: Also embedded texts and embeddings.
    """

    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="csv, excel, md or txt; otherwise as the suffix says.",
            show_default=False,
        ),
    ] = None
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", metavar="TAG", help="Scope, such as tenant:1; otherwise the whole graph.", show_default=False
        ),
    ] = None
    vectors: Annotated[bool, typer.Option("--vectors", help="Also embedded texts and embeddings.")] = False


@grouped
def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write; one that exists is replaced.", show_default=False)
    ],
    how: ExportOptions,
    folder: FolderOptions,
) -> None:
    """Write all entities and relations to a file: csv, xlsx, md or txt."""
    output = Output(folder.as_json, folder.verbose)
    file_format = how.file_format or FORMATS.get(file.suffix.lower())
    if file_format is None:
        raise InputError(f"{str(file)!r} tells no format; end it with {', '.join(FORMATS)}, or say --format")

    async def work(engine: LightRAG) -> None:
        await engine.aexport_data(str(file), file_format, how.vectors, tenant_tag=how.scope)
        size = file.stat().st_size
        if folder.as_json:
            output.value({"file": str(file), "format": file_format, "bytes": size})
        else:
            output.line(f"{file} is written, {size} bytes.")

    work_in_folder(folder, output, work, embeds=False)


def register(root: typer.Typer) -> None:
    """Add the commands."""
    root.command("check", epilog=examples("lightrag check", "lightrag check --repair"))(check)
    root.command(
        "migrate",
        epilog=examples(
            "lightrag migrate --dir ./rag_storage",
            "lightrag migrate --from sqlite --to files --to-dir ./for-other-tools",
        ),
    )(migrate)
    root.command("export", epilog=examples("lightrag export graph.csv", "lightrag export graph.xlsx"))(export)
