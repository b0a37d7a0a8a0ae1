"""How far a command is, on standard error: bars on a terminal, a line now and then elsewhere, nothing beside JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lightrag.cli.errors import one_line
from lightrag.cli.output import Output, make_console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SECONDS_BETWEEN_LINES = 5.0
_MOST_NOTE = 34


class Bar:
    """One thing that is counted."""

    def __init__(self, output: Output, name: str, progress: Progress | None) -> None:
        """Begin at nothing.

        Args:
            output: Where lines go when there is no bar.
            name: What is done, such as ``Storing``.
            progress: The bars on the terminal; ``None`` elsewhere.
        """
        self._output = output
        self._name = name
        self._progress = progress
        self._task: TaskID | None = progress.add_task(name, total=None, note="") if progress else None
        self._said_at = time.monotonic()
        self._said: tuple[int, int | None] = (-1, -1)

    def set(self, done: int, total: int | None, note: str = "") -> None:
        """Tell how far it is.

        Args:
            done: Count.
            total: Count; ``None`` when it is not known.
            note: What is at hand.
        """
        if self._progress is not None and self._task is not None:
            short = one_line(note)[:_MOST_NOTE]
            self._progress.update(self._task, completed=done, total=total, note=short)
            return
        is_time = time.monotonic() - self._said_at >= _SECONDS_BETWEEN_LINES
        if total != 0 and not self._output.as_json and self._said != (done, total) and (is_time or done == total):
            self._said_at, self._said = time.monotonic(), (done, total)
            self._output.note(f"{self._name}: {done}{'' if total is None else f' of {total}'}")


class Progressing:
    """The bars of a command."""

    def __init__(self, output: Output, progress: Progress | None) -> None:
        """Take where they are shown.

        Args:
            output: Where lines go when there are no bars.
            progress: The bars on the terminal; ``None`` elsewhere.
        """
        self._output = output
        self._progress = progress

    def bar(self, name: str) -> Bar:
        """Add a bar."""
        return Bar(self._output, name, self._progress)


@contextmanager
def progressing(output: Output) -> Iterator[Progressing]:
    """Show how far things are while the block runs."""
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = make_console(stderr=True)
    if not console.is_terminal:
        yield Progressing(output, None)
        return
    note = TextColumn("{task.fields[note]}", style="dim", markup=False)
    columns = (
        TextColumn(escape("{task.description:<10}")),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        note,
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Progressing(output, progress)
