"""What a folder keeps in memory of one namespace, and how a change of it is described.

A change is a list of *operations*: JSON values that name what is stored under which key afterwards, never how it came
to be. Applying an operation twice is the same as applying it once, so the journal can be replayed over files that hold
a part of it already.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from lightrag.exceptions import StorageError

if TYPE_CHECKING:
    from lightrag.contracts.evidence import ObjectKind

Operation: TypeAlias = list[Any]
Undo: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a folder is to have.

    Attributes:
        path: Where.
        pieces: Its content.
    """

    path: Path
    pieces: Iterable[bytes]


class SourceNames(Protocol):
    """Names the sources of objects."""

    def of(self, kind: ObjectKind, object_id: str, properties: Mapping[str, Any]) -> tuple[str, str]:
        """Return ``source_id`` and ``file_path`` of an object, each joined by ``<SEP>``."""
        ...


@dataclass(frozen=True, slots=True)
class Export:
    """What a table needs to know of the others when it is written.

    Attributes:
        tables: All tables of the folder that are in memory, by name.
        sources: Names the sources of objects.
    """

    tables: Mapping[str, Table]
    sources: SourceNames


class Table(ABC):
    """One namespace in memory. Changed by the writer's thread alone, under the lock of the folder.

    Attributes:
        name: Kind of the store and namespace, as ``kv/full_docs``.
        folder: Where its files are.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Start empty."""
        self.name = name
        self.folder = folder

    @property
    def namespace(self) -> str:
        """The namespace, as stores are named."""
        return self.name.partition("/")[2]

    @abstractmethod
    def load(self) -> None:
        """Read the files; missing ones are empty.

        Raises:
            StorageError: A file is damaged.
            OSError: A file cannot be read.
        """

    @abstractmethod
    def apply(self, operation: Operation) -> Undo:
        """Carry an operation out and return what takes it back."""

    @abstractmethod
    def new_files(self, export: Export) -> Iterator[NewFile]:
        """Return the files that hold what the table holds now."""

    @abstractmethod
    def clear_operation(self) -> Operation:
        """Return the operation that empties the table."""

    def files_on_disk(self) -> Sequence[Path]:
        """Return the files that :meth:`load` reads."""
        return ()

    def refuse(self, path: Path, problem: object) -> StorageError:
        """Return the error of a file that cannot be understood."""
        return StorageError(f"file {str(path)!r} is damaged: {problem}. Restore it from a backup, or move it away")


class Change:
    """Operations carried out together: all of them are kept, or all are taken back."""

    def __init__(self) -> None:
        """Start with nothing changed."""
        self.operations: list[tuple[str, Operation]] = []
        self._undo: list[Undo] = []

    def apply(self, table: Table, operation: Operation) -> None:
        """Carry an operation out."""
        self._undo.append(table.apply(operation))
        self.operations.append((table.name, operation))

    def take_back(self) -> None:
        """Bring every table back to what it was before."""
        while self._undo:
            self._undo.pop()()
        self.operations.clear()


Write: TypeAlias = Callable[[Change], None]
"""Reads tables, which nobody else changes meanwhile, and applies operations to the change it is given."""
