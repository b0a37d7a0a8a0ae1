"""``lightrag serve``: the server."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Annotated

import typer

from lightrag.cli.grouping import examples, grouped
from lightrag.cli.options import FolderOptions
from lightrag.exceptions import MissingDependencyError

# The server is a layer beside this one; it is run as its own command would be, and nothing of it is used here.
_SERVER = "lightrag.api.lightrag_server"


@dataclass(frozen=True)
class ServerOptions:
    """Where the server listens.

    Attributes:
        host: Address.
        port: Port; 0 takes a free one.
        key: API key that requests must carry.
        input_directory: Folder of uploads.
    """

    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Address to listen on; otherwise HOST, or all addresses.",
            show_default=False,
        ),
    ] = None
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            "-p",
            min=0,
            max=65535,
            metavar="NUMBER",
            help="Port to listen on; otherwise PORT, or 9621.",
            show_default=False,
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            "-k",
            metavar="KEY",
            help="API key that requests must carry; otherwise LIGHTRAG_API_KEY, which other users do not see.",
            show_default=False,
        ),
    ] = None
    input_directory: Annotated[
        str | None,
        typer.Option(
            "--input-dir",
            metavar="FOLDER",
            help="Folder of uploads; otherwise INPUT_DIR, or ./inputs.",
            show_default=False,
        ),
    ] = None


@grouped
def serve(server: ServerOptions, folder: FolderOptions, context: typer.Context) -> None:
    """Serve the corpus over HTTP until stopped; --json writes log lines as JSON.

    Further options are those of lightrag-server, which this runs.
    """
    given = {
        "--host": server.host,
        "--port": server.port,
        "--key": server.key,
        "--input-dir": server.input_directory,
        "--working-dir": folder.directory,
        "--workspace": folder.workspace,
        "--log-format": "json" if folder.as_json else None,
    }
    arguments = [f"{name}={value}" for name, value in given.items() if value is not None]
    arguments += ["--verbose"] if folder.verbose else []
    try:
        module = import_module(_SERVER)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("lightrag"):
            raise
        raise MissingDependencyError(error.name or "fastapi", "api", "The command serve") from error
    raise typer.Exit(module.main([*arguments, *context.args]))


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.command(
        "serve",
        epilog=examples(
            "lightrag serve --dir ./rag_storage", "lightrag serve --host 127.0.0.1 --port 8080 --llm-binding ollama"
        ),
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(serve)
