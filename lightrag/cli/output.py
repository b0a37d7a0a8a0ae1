"""What a command prints: text and tables for people, one JSON value for programs. Colour only on a terminal."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from lightrag.cli.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console

# A pipe has no width; tables there are as wide as their content.
_UNLIMITED = 100_000


@dataclass
class Output:
    """Standard output and standard error of a command.

    Attributes:
        as_json: Print nothing but one JSON value on standard output.
        verbose: Show log lines on standard error.
        when_interrupted: What to say when the command is interrupted now; ``""`` for nothing in particular.
    """

    as_json: bool = False
    verbose: bool = False
    when_interrupted: str = ""
    _console: Console | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                # A file name may hold bytes that are no text.
                reconfigure(errors="backslashreplace")
        _show_log_lines(self.verbose)

    @property
    def console(self) -> Console:
        """Standard output for tables."""
        if self._console is None:
            self._console = make_console()
        return self._console

    def value(self, value: Any) -> None:
        """Print the JSON value."""
        utf8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
        typer.echo(json.dumps(value, ensure_ascii=not utf8, indent=2, default=str))

    def line(self, text: str = "") -> None:
        """Print a line for people."""
        typer.echo(visible(text))

    def piece(self, text: str) -> None:
        """Print a piece of a text at once, without ending the line."""
        typer.echo(visible(text), nl=False)
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Print a line beside the result, on standard error."""
        typer.echo(one_line(text), err=True)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "") -> None:
        """Print a table; nothing when it has no rows.

        Args:
            columns: Headings; one that begins with ``#`` is of numbers, and is printed without it.
            rows: Cells; ``None`` is an empty one.
            title: Line above it.
        """
        from rich import box
        from rich.table import Table
        from rich.text import Text

        if not rows:
            return
        if title:
            self.line(f"\n{title}")
        on_terminal = self.console.is_terminal
        table = Table(box=box.SIMPLE_HEAD if on_terminal else None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(
                column.removeprefix("#"), justify="right" if column.startswith("#") else "left", overflow="fold"
            )
        for row in rows:
            table.add_row(*(Text("" if cell is None else one_line(cell)) for cell in row))
        if on_terminal:
            self.console.print(table)
            return
        # For pipes and files a row is a line, however long, as in other tools of the kind; but not a line of blanks.
        with self.console.capture() as captured:
            self.console.print(table)
        for line in captured.get().splitlines():
            self.line(line.rstrip())

    def pairs(self, values: Mapping[str, object]) -> None:
        """Print names and values, one pair a line; empty ones are left out."""
        shown = {name: value for name, value in values.items() if value not in (None, "", [], {})}
        width = max(map(len, shown), default=0)
        for name, value in shown.items():
            text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else one_line(value)
            self.line(f"{name:<{width}}  {text}")


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that adds no colour and no width of its own where nobody looks."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(
            stderr=stderr, highlight=False, markup=False, emoji=False, no_color=True, width=_UNLIMITED, soft_wrap=True
        )
    return console


def visible(text: str) -> str:
    """Return a text without control characters but line breaks and tabs, which could drive a terminal."""
    return "".join(character for character in text if character in "\n\t" or character.isprintable())


def day(stored: str | None) -> str:
    """Return a stored date for a table: without the time where it begins or ends a day."""
    if not stored:
        return ""
    date, _, clock = stored.partition("T")
    return date if clock.startswith(("00:00:00", "23:59:59")) else f"{date} {clock[:5]}"


def period(start: str | None, end: str | None) -> str:
    """Return both dates of a document for a table."""
    first, last = day(start), day(end)
    if first == last:
        return first
    return f"{first or '...'} to {last or '...'}"


class _OneLine(logging.Formatter):
    """Log lines without tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return one_line(f"{record.levelname.lower()}: {record.getMessage()}")


class _StandardError(logging.Handler):
    """Writes to what is standard error at that time."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")


def _show_log_lines(verbose: bool) -> None:
    """Send log lines to standard error, or nowhere: what matters of them is told by the command itself."""
    handler: logging.Handler = _StandardError() if verbose else logging.NullHandler()
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.INFO if verbose else logging.CRITICAL, handlers=[handler], force=True)
