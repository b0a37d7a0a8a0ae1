"""``lightrag ingest``: files and folders into a corpus."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightrag.cli.errors import FAILED
from lightrag.cli.grouping import examples, grouped
from lightrag.cli.metadata import metadata_fields, zone_in_use
from lightrag.cli.options import CorpusOptions, MetadataOptions
from lightrag.cli.output import Output
from lightrag.cli.progress import Progressing, progressing
from lightrag.cli.running import work_on
from lightrag.cli.source_files import Search, SourceFile, described, find_files
from lightrag.exceptions import InputError

if TYPE_CHECKING:
    from lightrag.cli.corpus import Corpus, Row, Stored

_EXAMPLES = examples(
    "lightrag ingest notes.md reports/2024.pdf --tag type:report",
    "lightrag ingest archive --recursive --glob '*.md' --start 1926 --end 1930 --zone Europe/London",
    "lightrag ingest act.md --doc-type act --meta title='Harbour Act' --meta chapter=9",
    "lightrag ingest archive -R --server http://127.0.0.1:9621",
)
_AGAIN = "give the same command again to go on"


@dataclass(frozen=True)
class FindOptions:
    """Which files of folders are taken.

    Attributes:
        recursive: Also those in folders below.
        glob: Patterns of their names.
        root: Folder that source paths begin at.
        no_wait: End when they are stored.
    """

    recursive: Annotated[bool, typer.Option("--recursive", "-R", help="Also the folders in the folders named.")] = False
    glob: Annotated[
        list[str] | None,
        typer.Option(
            "--glob",
            "-g",
            metavar="PATTERN",
            help="Of folders only files whose name fits, such as '*.md'; may be repeated.",
            show_default=False,
        ),
    ] = None
    root: Annotated[
        Path | None,
        typer.Option(
            "--root",
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="Folder that source paths begin at; otherwise the current one.",
            show_default=False,
        ),
    ] = None
    no_wait: Annotated[
        bool,
        typer.Option(
            "--no-wait", help="End when the files are stored; they are processed by the server, or by the next ingest."
        ),
    ] = False


@dataclass
class Ingestion:
    """What became of the files so far.

    Attributes:
        stored: Files that were handed over, known ones and refused ones included.
        skipped: Files of folders that are of no type that can be read.
        documents: Documents of the stored files that are finished, by source path.
    """

    stored: list[Stored] = field(default_factory=list)
    skipped: list[SourceFile] = field(default_factory=list)
    documents: dict[str, Row] = field(default_factory=dict)

    @property
    def accepted(self) -> list[Stored]:
        """Files that are stored now."""
        return [one for one in self.stored if one.status == "stored"]

    def results(self) -> list[dict[str, Any]]:
        """Return one row for each file."""
        rows = [self._result(one) for one in self.stored]
        return rows + [
            {"file": str(file.path), "source_path": file.source_path, "status": "skipped", "id": None,
             "message": "of a type that cannot be read"}
            for file in self.skipped
        ]  # fmt: skip

    def _result(self, one: Stored) -> dict[str, Any]:
        document = self.documents.get(one.file.source_path, {}) if one.status == "stored" else {}
        return {
            "file": str(one.file.path),
            "source_path": one.file.source_path,
            "status": document.get("status", one.status),
            "id": document.get("id") or one.doc_id or None,
            "message": document.get("error_msg") or one.message,
        }


@grouped
def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATHS...", help="Files and folders.", exists=True, show_default=False)
    ],
    find: FindOptions,
    metadata: MetadataOptions,
    corpus: CorpusOptions,
) -> None:
    """Read files into the corpus.

    The source path of a file is its path from here; its time of change is kept as well. Metadata may stand in
    NAME.meta.json beside it, as JSON with start_date, end_date, tags, meta, doc_type: it wins over the options, and
    tags of both count. Files that are stored already are passed over.
    """
    output = Output(corpus.as_json, corpus.verbose)
    shared = metadata_fields(metadata)
    files = find_files(paths, Search(find.recursive, find.glob or (), find.root))
    if not files:
        hint = "" if find.recursive else "; --recursive looks into the folders below as well"
        raise InputError(f"there is no file to ingest{hint}")
    ingestion = Ingestion()

    async def work(opened: Corpus) -> None:
        with progressing(output) as shown:
            await _store(opened, files, shared, ingestion, (output, shown))
            if ingestion.accepted and not find.no_wait:
                await _process(opened, ingestion, (output, shown))

    work_on(corpus, output, work, may_be_new=True)
    _tell(output, ingestion, zone_in_use([metadata.start, metadata.end], metadata.zone))
    if any(row["status"] in {"failed", "refused"} for row in ingestion.results()):
        raise typer.Exit(FAILED)


async def _store(
    corpus: Corpus,
    files: Sequence[SourceFile],
    shared: dict[str, Any],
    ingestion: Ingestion,
    shown: tuple[Output, Progressing],
) -> None:
    from lightrag.cli.corpus import Stored

    output, progress = shown
    bar = progress.bar("Storing")
    readable = set(await corpus.extensions())
    for number, file in enumerate(files, start=1):
        output.when_interrupted = f"{number - 1} of {len(files)} files are stored; {_AGAIN}"
        if PurePath(file.source_path).suffix.lower() not in readable and not file.is_named:
            ingestion.skipped.append(file)
        else:
            try:
                ingestion.stored.append(await corpus.store(await asyncio.to_thread(described, file, shared)))
            except (InputError, OSError) as error:
                ingestion.stored.append(Stored(file, "refused", str(error)))
        bar.set(number, len(files), file.source_path)


async def _process(corpus: Corpus, ingestion: Ingestion, shown: tuple[Output, Progressing]) -> None:
    output, progress = shown
    bar = progress.bar("Processing")
    waiting = len(ingestion.accepted)

    def told(done: int, total: int, note: str) -> None:
        output.when_interrupted = f"{done} of {max(total, waiting)} documents are processed, the others wait; {_AGAIN}"
        bar.set(done, max(total, waiting), note)

    ingestion.documents = await corpus.process(ingestion.accepted, told)


def _tell(output: Output, ingestion: Ingestion, zone: str | None) -> None:
    results = ingestion.results()
    counts = Counter(row["status"] for row in results)
    if output.as_json:
        output.value({"files": results, "counts": dict(counts), "zone": zone})
        return
    for row in results:
        if row["status"] in {"failed", "refused"}:
            output.note(f"{row['source_path']}: {row['status']}: {row['message']}")
    words = {"stored": "stored and waiting", "known": "already stored", "skipped": "of other types passed over"}
    output.line(", ".join(f"{count} {words.get(status, status)}" for status, count in counts.items()) + ".")
    if zone:
        output.line(f"Dates are in the zone {zone}.")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ingest", epilog=_EXAMPLES)(ingest)
