"""The options that commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

_PLACE = "Where the corpus is"
_OUTPUT = "Output"
_DATES = "Which documents: dates"
_LIMITS = "Which documents"

_Dir = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        "-d",
        metavar="FOLDER",
        help="Folder of the corpus; otherwise WORKING_DIR, or ./rag_storage.",
        show_default=False,
        rich_help_panel=_PLACE,
    ),
]
_Workspace = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="NAME",
        help="Name of the corpus in that folder; otherwise WORKSPACE.",
        show_default=False,
        rich_help_panel=_PLACE,
    ),
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
        typer.Option(
            "--server",
            "-s",
            metavar="URL",
            help="Address of a server, such as http://127.0.0.1:9621, instead of a folder.",
            show_default=False,
            rich_help_panel=_PLACE,
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            "-k",
            metavar="KEY",
            help="API key of the server, or a login token; otherwise LIGHTRAG_API_KEY, which other users do not see.",
            show_default=False,
            rich_help_panel=_PLACE,
        ),
    ] = None
    as_json: _Json = False
    verbose: _Verbose = False


_Zone = Annotated[
    str | None,
    typer.Option(
        "--zone",
        metavar="ZONE",
        help="Zone of the dates, such as Europe/London or +01:00; otherwise that of this machine.",
        show_default=False,
        rich_help_panel=_DATES,
    ),
]


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
        list[str] | None,
        typer.Option(
            "--require", "-r", metavar="TAG", help="Tag that documents must carry; may be repeated.",
            show_default=False, rich_help_panel=_LIMITS,
        ),
    ] = None  # fmt: skip
    any_tag: Annotated[
        bool, typer.Option("--any", help="One of the required tags is enough.", rich_help_panel=_LIMITS)
    ] = False
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            "--forbid", "-f", metavar="TAG", help="Tag that documents must not carry; may be repeated.",
            show_default=False, rich_help_panel=_LIMITS,
        ),
    ] = None  # fmt: skip
    forbid_in_graph: Annotated[
        bool,
        typer.Option(
            "--forbid-in-graph", help="Also drop entities and relations to which a document with a forbidden tag "
            "contributes.", rich_help_panel=_LIMITS,
        ),
    ] = False  # fmt: skip
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="DATE", help="First date of the period: 1930, 1930-06, 1930-06-15 or with a time.",
            show_default=False, rich_help_panel=_DATES,
        ),
    ] = None  # fmt: skip
    end: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="DATE", help="Last date of the period, with the whole of that day, month or year.",
            show_default=False, rich_help_panel=_DATES,
        ),
    ] = None  # fmt: skip
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="DAY", help="One point in time instead of a period: noon of a day, or a day and time.",
            show_default=False, rich_help_panel=_DATES,
        ),
    ] = None  # fmt: skip
    zone: _Zone = None
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset", metavar="NAME", help="What the dates are meant for: broad-retrieval (a document touches the "
            "period; the default), archive-discovery (or has no date), legislation-in-force (covers all of it), "
            "activity-in-period (touches it and has a start), wholly-within-period, strict-catalog (touches it and "
            "has both dates), uncatalogued-only (only documents without any date).",
            show_default=False, rich_help_panel=_DATES,
        ),
    ] = None  # fmt: skip
    undated: Annotated[
        str | None,
        typer.Option(
            "--undated", metavar="HOW", help="Documents without any date: exclude, include_or, only; otherwise as the "
            "preset has it.", show_default=False, rich_help_panel=_DATES,
        ),
    ] = None  # fmt: skip
    doc_type: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="TYPE", help="Type of document; may be repeated, any of them.",
            show_default=False, rich_help_panel=_LIMITS,
        ),
    ] = None  # fmt: skip
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder", metavar="PATH", help="Folder of the source path, all below included; may be repeated, any of "
            "them.", show_default=False, rich_help_panel=_LIMITS,
        ),
    ] = None  # fmt: skip
    after: Annotated[
        str | None,
        typer.Option(
            "--after", metavar="DATE", help="Earliest modification of the file.",
            show_default=False, rich_help_panel=_DATES,
        ),
    ] = None  # fmt: skip
    before: Annotated[
        str | None,
        typer.Option(
            "--before", metavar="DATE", help="Latest modification of the file.",
            show_default=False, rich_help_panel=_DATES,
        ),
    ] = None  # fmt: skip
    filter_json: Annotated[
        str | None,
        typer.Option(
            "--filter", metavar="JSON", help="Filter fields of POST /query as a JSON object, or @FILE; other options "
            "win.", show_default=False, rich_help_panel=_LIMITS,
        ),
    ] = None  # fmt: skip


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

    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", "-t", metavar="TAG", help="Tag; may be repeated.", show_default=False),
    ] = None
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="DATE", help="When what the document says begins to hold: 1930, 1930-06, 1930-06-15 or "
            "with a time.", show_default=False,
        ),
    ] = None  # fmt: skip
    end: Annotated[
        str | None,
        typer.Option(
            "--end", metavar="DATE", help="When it ends, with the whole of that day, month or year.",
            show_default=False,
        ),
    ] = None  # fmt: skip
    zone: Annotated[
        str | None,
        typer.Option(
            "--zone", metavar="ZONE", help="Zone of the dates, such as Europe/London or +01:00; otherwise that of "
            "this machine.", show_default=False,
        ),
    ] = None  # fmt: skip
    doc_type: Annotated[
        str | None,
        typer.Option("--doc-type", metavar="TYPE", help="Kind of source, such as act or letter.", show_default=False),
    ] = None
    meta: Annotated[
        list[str] | None,
        typer.Option(
            "--meta", metavar="KEY=VALUE", help="Free metadata, given back and never searched; may be repeated, or be "
            "a JSON object.", show_default=False,
        ),
    ] = None  # fmt: skip
