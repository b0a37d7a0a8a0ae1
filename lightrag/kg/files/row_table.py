"""Rows as JSON text by key: key-value stores, and the base of the table of document status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightrag.kg.files.json_file import object_pieces, read_rows
from lightrag.kg.files.key_order import KeyOrder
from lightrag.kg.files.table import Export, NewFile, Operation, Table, Undo


class RowTable(Table):
    """One ``kv_store_….json``.

    Operations: ``["put", {key: text}]``, ``["delete", [key]]``, ``["clear"]``.

    Attributes:
        rows: JSON text of each row, by key.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Start empty."""
        super().__init__(name, folder)
        self.rows: dict[str, str] = {}
        self._order = KeyOrder()

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / f"kv_store_{self.namespace}.json"

    def files_on_disk(self) -> Sequence[Path]:
        """Return the file."""
        return (self.path,)

    def load(self) -> None:
        """Read the file."""
        for key, value, text in read_rows(self.path):
            if not isinstance(value, dict):
                raise self.refuse(self.path, f"row {key!r} is no object")
            self.rows[key] = text
            self.took_in(key, value)

    def apply(self, operation: Operation) -> Undo:
        """Put, delete or clear."""
        match operation:
            case ["put", dict(rows)]:
                return self._replace(rows)
            case ["delete", list(keys)]:
                return self._replace(dict.fromkeys(keys))
            case ["clear"]:
                return self._replace(dict.fromkeys(self.rows))
        raise ValueError(f"{operation[:1]!r} is no operation of {self.name!r}")

    def _replace(self, rows: Mapping[str, str | None]) -> Undo:
        before = {key: self.rows.get(key) for key in rows}
        for key, text in rows.items():
            if text is not None:
                if key not in self.rows:
                    self._order.added()
                self.rows[key] = text
                self.changed(key, text)
            elif self.rows.pop(key, None) is not None:
                self.changed(key, None)

        def undo() -> None:
            self._replace(before)

        return undo

    def clear_operation(self) -> Operation:
        """Return the operation that deletes every row."""
        return ["clear"]

    def page(self, after: str, limit: int) -> list[tuple[str, str]]:
        """Return key and text of up to ``limit`` rows whose key sorts after ``after``, by key."""
        keys = self._order.page(self.rows, self.rows, after, limit)
        return [(key, self.rows[key]) for key in keys]

    def new_files(self, export: Export) -> Iterator[NewFile]:
        """Return the file with all rows."""
        yield NewFile(self.path, object_pieces(self.rows))

    def take_over(self, rows: dict[str, str]) -> None:
        """Replace all rows by those that the file has now."""
        self.rows = rows
        self._order.added()

    def took_in(self, key: str, value: dict[str, Any]) -> None:
        """Note a row that was read from the file."""

    def changed(self, key: str, text: str | None) -> None:
        """Note a row that was put, or deleted when ``text`` is ``None``."""
