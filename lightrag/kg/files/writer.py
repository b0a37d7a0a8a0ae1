"""The writer of a folder: changes what it holds in memory, then on disk.

A write is visible in memory a moment before it is durable; who wrote is answered afterwards, and when the disk refuses,
what was visible is taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lightrag.kg.files.table import Change, Write
from lightrag.kg.writer import Job, Writer


class Target(Protocol):
    """What a writer writes to; all methods are called in the writer's thread."""

    def carry_out(self, write: Write) -> Change:
        """Carry a write out in memory; when it raises, nothing has changed."""

    def make_durable(self, changes: Sequence[Change]) -> None:
        """Put changes on the disk; when it raises, they have been taken back."""


class FolderWriter(Writer[Write]):
    """Carries writes out in memory, one after another, and makes those of a group durable at once."""

    def __init__(self, name: str, target: Target) -> None:
        """Start the thread.

        Args:
            name: Of the folder, for messages.
            target: What is written to.
        """
        self._target = target
        super().__init__(name)

    def joined(self, writes: Sequence[Write]) -> Write:
        """Return the write that carries out several."""

        def run(change: Change) -> None:
            for write in writes:
                write(change)

        return run

    def commit(self, group: Sequence[Job[Write]]) -> None:
        """Carry out a group of writes and finish the future of each."""
        done: list[tuple[Job[Write], Change]] = []
        for job in group:
            try:
                done.append((job, self._target.carry_out(job.work)))
            except Exception as error:  # noqa: BLE001 - the boundary of the thread: the error belongs to the caller
                self.fail(job, error)
        if not done:
            return
        try:
            self._target.make_durable([change for _, change in done])
        except Exception as error:  # noqa: BLE001 - the boundary of the thread, as above
            for job, _ in done:
                self.fail(job, error)
        else:
            for job, _ in done:
                job.future.set_result(None)
