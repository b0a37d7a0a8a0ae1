"""``lightrag documents``: look at documents, change what is said about them, delete them, try failed ones again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightrag.cli.errors import FAILED, Group, one_line
from lightrag.cli.filters import choose
from lightrag.cli.grouping import examples, grouped
from lightrag.cli.metadata import metadata_fields, zone_in_use
from lightrag.cli.options import CorpusOptions, FilterOptions, MetadataOptions
from lightrag.cli.output import Output, period
from lightrag.cli.progress import progressing
from lightrag.cli.running import work_on
from lightrag.exceptions import InputError, NotFoundError

if TYPE_CHECKING:
    from lightrag.cli.corpus import Corpus, Row

STATUSES = ("pending", "parsing", "analyzing", "processing", "preprocessed", "processed", "failed")
SORTS = ("updated_at", "created_at", "id", "file_path")
CLEARABLE = ("start", "end", "tags", "meta", "doc-type")

_Names = Annotated[list[str], typer.Argument(metavar="DOCUMENTS...", help="Ids or source paths.", show_default=False)]
_Name = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Id or source path.", show_default=False)]

app = typer.Typer(
    cls=Group, help="Look at documents, change what is said about them, delete them, try failed ones again."
)


@dataclass(frozen=True)
class ListOptions:
    """Which part of the list.

    Attributes:
        status: Only these states.
        page: From 1.
        page_size: Documents on a page.
        sort: What it is sorted by.
        ascending: Smallest or oldest first.
        ids: Also print ids.
    """

    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            metavar="STATE",
            help=f"Only this state: {', '.join(STATUSES)}; may be repeated.",
            show_default=False,
        ),
    ] = None
    page: Annotated[int, typer.Option("--page", min=1, max=1_000_000_000, metavar="NUMBER", help="Page.")] = 1
    page_size: Annotated[
        int, typer.Option("--page-size", min=10, max=200, metavar="COUNT", help="Documents on a page.")
    ] = 50
    sort: Annotated[str, typer.Option("--sort", metavar="FIELD", help=f"Sorted by {', '.join(SORTS)}.")] = "updated_at"
    ascending: Annotated[bool, typer.Option("--ascending", help="Oldest or smallest first.")] = False
    ids: Annotated[bool, typer.Option("--ids", help="Also print ids.")] = False


@app.command(
    "list",
    epilog=examples(
        "lightrag documents list", "lightrag documents list --status failed",
        "lightrag documents list --require type:act --at 1930-06-15 --json",
    ),
)  # fmt: skip
@grouped
def list_documents(part: ListOptions, limits: FilterOptions, corpus: CorpusOptions) -> None:
    """List documents, those of a filter or all."""
    from lightrag.cli.corpus import Page

    output = Output(corpus.as_json, corpus.verbose)
    for status in part.status or ():
        _require_one_of("--status", status, STATUSES)
    _require_one_of("--sort", part.sort, SORTS)
    chosen = choose(limits)
    page = Page(part.page, part.page_size, part.status or (), part.sort, "asc" if part.ascending else "desc")

    async def work(opened: Corpus) -> None:
        found = await opened.documents(chosen.fields, page)
        if corpus.as_json:
            output.value({**found, **chosen.as_json()})
            return
        if chosen.fields:
            output.line(f"Only documents {chosen.in_words()}\n")
        columns = ["Document", "Status", "Dates", "Tags", "#Chunks", *(["Id"] if part.ids else [])]
        output.table(columns, [_list_row(row)[: len(columns)] for row in found["documents"]])
        place = found["pagination"]
        output.line(f"Page {place['page']} of {max(place['total_pages'], 1)}, {place['total_count']} documents.")

    work_on(corpus, output, work, embeds=False)


def _list_row(row: Row) -> tuple[object, ...]:
    dates = period(row["start_date"], row["end_date"])
    return (row["file_path"], row["status"], dates, ", ".join(row["tags"]), row["chunks_count"], row["id"])


@app.command("show", epilog=examples("lightrag documents show archive/act-1928.md"))
@grouped
def show(document: _Name, corpus: CorpusOptions) -> None:
    """Show all that is known about a document."""
    output = Output(corpus.as_json, corpus.verbose)

    async def work(opened: Corpus) -> None:
        _print_document(output, await _find(opened, document))

    work_on(corpus, output, work, embeds=False)


@dataclass(frozen=True)
class ChangeOptions:
    """Changes beside new values.

    Attributes:
        add_tag: Tags to add.
        remove_tag: Tags to take away.
        clear: Fields to empty.
    """

    add_tag: Annotated[
        list[str] | None,
        typer.Option("--add-tag", metavar="TAG", help="Tag to add to those that are there.", show_default=False),
    ] = None
    remove_tag: Annotated[
        list[str] | None, typer.Option("--remove-tag", metavar="TAG", help="Tag to take away.", show_default=False)
    ] = None
    clear: Annotated[
        list[str] | None,
        typer.Option("--clear", metavar="FIELD", help=f"Field to empty: {', '.join(CLEARABLE)}.", show_default=False),
    ] = None


@app.command(
    "set-metadata",
    epilog=examples(
        "lightrag documents set-metadata act.md --start 1928-04-01 --zone Europe/London --clear end",
        "lightrag documents set-metadata act.md --add-tag status:repealed",
    ),
)
@grouped
def set_metadata(document: _Name, new: MetadataOptions, change: ChangeOptions, corpus: CorpusOptions) -> None:
    """Change dates, tags or other metadata of a document; questions are limited by the new ones at once.

    What is not named stays as it is. --tag and --meta replace all tags and all free metadata.
    """
    output = Output(corpus.as_json, corpus.verbose)
    if new.tag is not None and (change.add_tag or change.remove_tag):
        raise InputError("--tag replaces all tags; give either that, or --add-tag and --remove-tag")
    patch: dict[str, Any] = {**metadata_fields(new), **_cleared(change.clear or ())}
    if not patch and not change.add_tag and not change.remove_tag:
        raise InputError("nothing is to be changed; name a field, such as --add-tag status:repealed")

    async def work(opened: Corpus) -> None:
        found = await _find(opened, document)
        if change.add_tag or change.remove_tag:
            patch["tags"] = _changed_tags(found["tags"], change)
        _print_document(output, await opened.set_metadata(found["id"], patch))

    work_on(corpus, output, work)
    zone = zone_in_use([new.start, new.end], new.zone)
    if zone and not corpus.as_json:
        output.line(f"\nDates are in the zone {zone}.")


def _cleared(names: Sequence[str]) -> dict[str, Any]:
    fields = dict(zip(CLEARABLE, ("start_date", "end_date", "tags", "meta", "doc_type"), strict=True))
    for name in names:
        _require_one_of("--clear", name, CLEARABLE)
    return {fields[name]: None for name in names}


def _changed_tags(tags: Sequence[str], change: ChangeOptions) -> list[str]:
    from lightrag.query_filters import normalize_tags

    removed = set(normalize_tags(change.remove_tag or ()))
    missing = removed - set(tags)
    if missing:
        raise NotFoundError(f"the document has no tag {min(missing)!r}; it has {', '.join(tags) or 'none'}")
    # New ones as they were typed: where a tag names a scope, one that normalising would alter is refused.
    return [*(tag for tag in tags if tag not in removed), *(change.add_tag or ())]


@app.command("delete", epilog=examples("lightrag documents delete drafts/a.md drafts/b.md --yes"))
@grouped
def delete(
    documents: _Names,
    corpus: CorpusOptions,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    with_replies: Annotated[
        bool, typer.Option("--with-replies", help="Also forget what the model said about them.")
    ] = False,
) -> None:
    """Delete documents and everything that came from them alone."""
    output = Output(corpus.as_json, corpus.verbose)
    if not yes:
        _confirm(output, documents)
    failures: dict[str, str] = {}

    async def work(opened: Corpus) -> None:
        found = {row["id"]: row for row in [await _find(opened, name) for name in documents]}
        failures.update(await opened.delete(list(found), with_replies=with_replies))
        gone = [row for doc_id, row in found.items() if doc_id not in failures]
        if corpus.as_json:
            output.value({"deleted": [row["id"] for row in gone], "failed": failures})
            return
        for row in gone:
            output.line(f"{row['file_path']} ({row['id']}) is deleted.")
        for doc_id, reason in failures.items():
            output.note(f"{found[doc_id]['file_path']} ({doc_id}): {reason}")

    work_on(corpus, output, work)
    if failures:
        raise typer.Exit(FAILED)


def _confirm(output: Output, documents: Sequence[str]) -> None:
    # Asked before anything runs, while Ctrl-C still ends the question itself.
    if not sys.stdin.isatty():
        raise InputError("deleting cannot be undone; say --yes where nobody can be asked")
    if not typer.confirm(f"Delete {one_line(', '.join(documents))}?", err=True):
        output.note("nothing was deleted")
        raise typer.Exit(FAILED)


@app.command("retry", epilog=examples("lightrag documents retry", "lightrag documents retry letters/1926-03-02.pdf"))
@grouped
def retry(
    corpus: CorpusOptions,
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOCUMENTS]...", help="Ids or source paths; all that failed when none is given."),
    ] = None,
) -> None:
    """Try failed documents once more, and process those that wait."""
    output = Output(corpus.as_json, corpus.verbose)
    rows: list[Row] = []

    async def work(opened: Corpus) -> None:
        with progressing(output) as shown:
            bar = shown.bar("Processing")

            def told(done: int, total: int, note: str) -> None:
                output.when_interrupted = f"{done} of {total} documents are processed, the others wait"
                bar.set(done, total, note)

            named = {row["id"]: row for row in [await _find(opened, name) for name in documents or ()]}
            for row in named.values():
                if row["status"] != "failed":
                    raise InputError(
                        f"{row['file_path']} has not failed, it is {row['status']}; nothing was tried again"
                    )
            rows.extend(await opened.retry(told, list(named)))

    work_on(corpus, output, work)
    failed = [row for row in rows if row["status"] != "processed"]
    if corpus.as_json:
        output.value({"documents": rows, "counts": dict(Counter(row["status"] for row in rows))})
    else:
        for row in failed:
            output.note(f"{row['file_path']}: {row['status']}: {row['error_msg']}")
        told = f"{len(rows)} documents were tried again, {len(rows) - len(failed)} are processed."
        output.line(told if rows else "There is nothing to try again.")
    if failed:
        raise typer.Exit(FAILED)


async def _find(corpus: Corpus, name: str) -> Row:
    found = await corpus.document(name)
    if found is None:
        raise NotFoundError(f"there is no document {name!r}; `lightrag documents list` names those that there are")
    return found


def _print_document(output: Output, row: Row) -> None:
    if output.as_json:
        output.value(row)
        return
    output.pairs(
        {
            "Document": row["file_path"],
            "Id": row["id"],
            "Status": row["status"],
            "Error": row["error_msg"],
            "Start": row["start_date"],
            "End": row["end_date"],
            "Tags": ", ".join(row["tags"]),
            "Type": row["doc_type"],
            "Source path": row["source_path"],
            "Modified": row["modified_at"],
            "Metadata": row["meta"],
            "Characters": row["content_length"],
            "Chunks": row["chunks_count"],
            "Stored": row["created_at"],
            "Changed": row["updated_at"],
            "Track id": row["track_id"],
            "Begins": row["content_summary"],
        }
    )


def _require_one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{option} is {value!r}; allowed are {', '.join(allowed)}")


def register(root: typer.Typer) -> None:
    """Add the group."""
    root.add_typer(app, name="documents")
