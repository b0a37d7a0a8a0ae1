"""How far the demo is: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

LINE_EVERY = 8


class Display:
    """Progress bars on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._progress: Progress | None = None

    @contextmanager
    def bars(self) -> Iterator[None]:
        """Show bars while the block runs."""
        if not self.console.is_terminal:
            yield
            return
        columns = (
            TextColumn("{task.description:<10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[note]}[/dim]"),
        )
        with Progress(*columns, console=self.console) as progress:
            self._progress = progress
            try:
                yield
            finally:
                self._progress = None

    def bar(self, name: str, total: int) -> Bar:
        """Add a bar."""
        return Bar(self.console, self._progress, name, total)


class Bar:
    """One bar, or its lines."""

    def __init__(self, console: Console, progress: Progress | None, name: str, total: int) -> None:
        self._console = console
        self._progress = progress
        self._name = name
        self._total = total
        self._said = -1
        self._task: TaskID | None = progress.add_task(name, total=total, note="") if progress else None

    def set(self, done: int, note: str = "") -> None:
        """Move the bar to ``done``."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, note=escape(note[:60]))
        elif done != self._said and (done % LINE_EVERY == 0 or done == self._total):
            self._said = done
            self._console.print(f"{self._name}: {done} of {self._total}")
