"""The command ``lightrag``, put together from its groups."""

from __future__ import annotations

import errno
import sys
from types import TracebackType
from typing import Annotated

import typer

from lightrag.cli.commands import documents, graph, ingest, query, scopes, serve, upkeep
from lightrag.cli.errors import PlainGroup, tell
from lightrag.cli.grouping import examples, flowing

_HELP = """Ask archives: documents in, answers with references out, limited by dates, tags and sources.

Works on a folder (--dir, otherwise WORKING_DIR or ./rag_storage) with the models that the settings name, or with
--server URL against a server. Without settings it needs no key and no network: answers are then sentences quoted from
the documents."""

_EXAMPLES = examples(
    "lightrag ingest archive --recursive --tag collection:archive",
    'lightrag query "Who drew the bridge?" --require type:letter --from 1926',
    "lightrag documents list --server http://127.0.0.1:9621",
)
_EPILOG = f"{_EXAMPLES}\n\nExit codes: 0 done, 1 failed, 2 asked for wrongly, 130 interrupted."

app = typer.Typer(
    name="lightrag",
    cls=PlainGroup,
    help=flowing(_HELP),
    epilog=_EPILOG,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"lightrag {version('lightrag-hku')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take what stands before the command."""


for group in (ingest, query, documents, scopes, graph, upkeep, serve):
    group.register(app)


def run_command() -> int:
    """Run the command line of the process, and end it with the command's exit code."""
    sys.excepthook = _one_line_hook
    # Whoever types the name alone wants to know what there is.
    typer.main.get_command(app).main(["--help"] if len(sys.argv) == 1 else None, prog_name="lightrag")
    return 0


def _one_line_hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Tell of an error that nobody foresaw in one line; Python then ends with exit code 1."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        tell(f"no room left to write: {error.strerror}")
        return
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}" if trace else ""
    tell(f"unexpected {kind.__name__}{where}: {error}; this is a fault of the program")
