"""The options that commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

_PLACE = "Where the corpus is"
_OUTPUT = "Output"
_DATES = "Which documents: dates"
_LIMITS = "Which documents"
_ZONE_TEXT = "Zone of the dates, such as Europe/London or +01:00; otherwise that of this machine."


def _option(names: str, metavar: str, panel: str | None, text: str) -> Any:
    """Return an option without a default to show; its names are separated by spaces."""
    return typer.Option(*names.split(), metavar=metavar, help=text, show_default=False, rich_help_panel=panel)


_Dir = Annotated[
    Path | None,
    _option("--dir -d", "FOLDER", _PLACE, "Folder of the corpus; otherwise WORKING_DIR, or ./rag_storage."),
]
_Workspace = Annotated[
    str | None,
    _option("--workspace -w", "NAME", _PLACE, "Name of the corpus in that folder; otherwise WORKSPACE."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else.", rich_help_panel=_OUTPUT)]
_Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Tell on standard error what happens.", rich_help_panel=_OUTPUT)
]


@dataclass(frozen=True)
class FolderOptions:
    """Of commands that work on a folder only.

    Attributes:
        directory: Folder of the stores; ``None`` for the setting.
        workspace: Name of the corpus; ``None`` for the setting.
        as_json: Print JSON.
        verbose: Show log lines.
    """

    directory: _Dir = None
    workspace: _Workspace = None
    as_json: _Json = False
    verbose: _Verbose = False


@dataclass(frozen=True)
class CorpusOptions:
    """Of commands that work on a folder or against a server.

    Attributes:
        directory: Folder of the stores; ``None`` for the setting.
        workspace: Name of the corpus; ``None`` for the setting.
        server: Address of a server; ``None`` to work on the folder.
        key: API key or login token for it; ``None`` for the setting.
        as_json: Print JSON.
        verbose: Show log lines.
    """

    directory: _Dir = None
    workspace: _Workspace = None
    server: Annotated[
        str | None,
        _option(
            "--server -s", "URL", _PLACE, "Address of a server, such as http://127.0.0.1:9621, instead of a folder."
        ),
    ] = None
    key: Annotated[
        str | None,
        _option(
            "--key -k",
            "KEY",
            _PLACE,
            "API key of the server, or a login token; otherwise LIGHTRAG_API_KEY, which other users do not see.",
        ),
    ] = None
    as_json: _Json = False
    verbose: _Verbose = False


_Zone = Annotated[str | None, _option("--zone", "ZONE", _DATES, _ZONE_TEXT)]


@dataclass(frozen=True)
class FilterOptions:
    """Which documents; all options narrow.

    Attributes:
        require: Tags that documents must carry.
        any_tag: One of these tags is enough.
        forbid: Tags that documents must not carry.
        forbid_in_graph: Also drop entities and relations to which such a document contributes.
        start: First date, as typed.
        end: Last date, as typed.
        at: A single date, as typed.
        zone: Zone of the dates.
        preset: Named intent about dates.
        undated: What happens to documents without any date.
        doc_type: Types of documents.
        folder: Folders that they lie in.
        after: Earliest modification, as typed.
        before: Latest modification, as typed.
        filter_json: Any filter fields of the HTTP interface as JSON.
    """

    require: Annotated[
        list[str] | None, _option("--require -r", "TAG", _LIMITS, "Tag that documents must carry; may be repeated.")
    ] = None
    any_tag: Annotated[
        bool, typer.Option("--any", help="One of the required tags is enough.", rich_help_panel=_LIMITS)
    ] = False
    forbid: Annotated[
        list[str] | None, _option("--forbid -f", "TAG", _LIMITS, "Tag that documents must not carry; may be repeated.")
    ] = None
    forbid_in_graph: Annotated[
        bool,
        typer.Option(
            "--forbid-in-graph",
            help="Also drop entities and relations to which a document with a forbidden tag contributes.",
            rich_help_panel=_LIMITS,
        ),
    ] = False
    start: Annotated[
        str | None,
        _option("--from", "DATE", _DATES, "First date of the period: 1930, 1930-06, 1930-06-15 or with a time."),
    ] = None
    end: Annotated[
        str | None,
        _option("--to", "DATE", _DATES, "Last date of the period, with the whole of that day, month or year."),
    ] = None
    at: Annotated[
        str | None,
        _option("--at", "DAY", _DATES, "One point in time instead of a period: noon of a day, or a day and time."),
    ] = None
    zone: _Zone = None
    preset: Annotated[
        str | None,
        _option(
            "--preset",
            "NAME",
            _DATES,
            "What the dates are meant for: broad-retrieval (a document touches the period; the default), "
            "archive-discovery (or has no date), legislation-in-force (covers all of it), activity-in-period "
            "(touches it and has a start), wholly-within-period, strict-catalog (touches it and has both dates), "
            "uncatalogued-only (only documents without any date).",
        ),
    ] = None
    undated: Annotated[
        str | None,
        _option(
            "--undated",
            "HOW",
            _DATES,
            "Documents without any date: exclude, include_or, only; otherwise as the preset has it.",
        ),
    ] = None
    doc_type: Annotated[
        list[str] | None, _option("--type", "TYPE", _LIMITS, "Type of document; may be repeated, any of them.")
    ] = None
    folder: Annotated[
        list[str] | None,
        _option(
            "--folder", "PATH", _LIMITS, "Folder of the source path, all below included; may be repeated, any of them."
        ),
    ] = None
    after: Annotated[str | None, _option("--after", "DATE", _DATES, "Earliest modification of the file.")] = None
    before: Annotated[str | None, _option("--before", "DATE", _DATES, "Latest modification of the file.")] = None
    filter_json: Annotated[
        str | None,
        _option(
            "--filter", "JSON", _LIMITS, "Filter fields of POST /query as a JSON object, or @FILE; other options win."
        ),
    ] = None


@dataclass(frozen=True)
class MetadataOptions:
    """What is said about documents.

    Attributes:
        tag: Their tags.
        start: First date, as typed.
        end: Last date, as typed.
        zone: Zone of both.
        doc_type: Kind of source.
        meta: ``KEY=VALUE`` or JSON objects.
    """

    tag: Annotated[list[str] | None, _option("--tag -t", "TAG", None, "Tag; may be repeated.")] = None
    start: Annotated[
        str | None,
        _option(
            "--start",
            "DATE",
            None,
            "When what the document says begins to hold: 1930, 1930-06, 1930-06-15 or with a time.",
        ),
    ] = None
    end: Annotated[
        str | None, _option("--end", "DATE", None, "When it ends, with the whole of that day, month or year.")
    ] = None
    zone: Annotated[str | None, _option("--zone", "ZONE", None, _ZONE_TEXT)] = None
    doc_type: Annotated[str | None, _option("--doc-type", "TYPE", None, "Kind of source, such as act or letter.")] = (
        None
    )
    meta: Annotated[
        list[str] | None,
        _option(
            "--meta",
            "KEY=VALUE",
            None,
            "Free metadata, given back and never searched; may be repeated, or be a JSON object.",
        ),
    ] = None
