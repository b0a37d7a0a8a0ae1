"""Document status in memory: rows as text, and what is searched for beside them."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lightrag.contracts.doc_status import DocStatus, StatusPage, is_refused
from lightrag.contracts.sources import is_source
from lightrag.kg.files.row_table import RowTable

Position = tuple[str, str]


class StatusKeys(NamedTuple):
    """What rows are found and ordered by; ``""`` where a row has nothing.

    Attributes:
        status: State.
        created_at: As stored.
        updated_at: As stored.
        file_path: Source path.
        track_id: Call that enqueued it.
        content_hash: Of its text.
        is_refused: Whether it is a refused attempt.
        chunks_count: As stored, as text.
    """

    status: str
    created_at: str
    updated_at: str
    file_path: str
    track_id: str
    content_hash: str
    is_refused: bool
    chunks_count: str

    @property
    def stamp(self) -> str:
        """Equal for two states of a document whose text and chunks are the same ones."""
        return f"{self.created_at}|{self.content_hash}|{self.chunks_count}"


def _keys_of(key: str, row: dict[str, Any]) -> StatusKeys:
    def text(name: str) -> str:
        value = row.get(name)
        return value if isinstance(value, str) else ""

    return StatusKeys(
        status=text("status"),
        created_at=text("created_at"),
        updated_at=text("updated_at"),
        file_path=text("file_path"),
        track_id=text("track_id"),
        content_hash=text("content_hash"),
        is_refused=is_refused(key, row),
        chunks_count=str(row.get("chunks_count") or ""),
    )


class StatusTable(RowTable):
    """``kv_store_doc_status.json``.

    Attributes:
        keys: What each row is found by.
        own: Documents whose row was written here since the file was read.
        listeners: Told of every row that is put (with its value) or deleted (with ``None``).
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Start empty."""
        super().__init__(name, folder)
        self.keys: dict[str, StatusKeys] = {}
        self.own: set[str] = set()
        self.listeners: list[Callable[[str, dict[str, Any] | None], None]] = []
        self._by: dict[str, dict[str, dict[str, None]]] = {
            name: {} for name in ("status", "file_path", "track_id", "content_hash")
        }

    def took_in(self, key: str, value: dict[str, Any]) -> None:
        """Index a row."""
        self._forget(key)
        keys = self.keys[key] = _keys_of(key, value)
        for name, index in self._by.items():
            index.setdefault(getattr(keys, name), {})[key] = None

    def changed(self, key: str, text: str | None) -> None:
        """Index a row that was put, or forget one that was deleted."""
        self.own.add(key)
        if text is None:
            self._forget(key)
            value = None
        else:
            value = json.loads(text)
            self.took_in(key, value)
        for listener in self.listeners:
            listener(key, value)

    def _forget(self, key: str) -> None:
        keys = self.keys.pop(key, None)
        if keys is None:
            return
        for name, index in self._by.items():
            found = index[getattr(keys, name)]
            del found[key]
            if not found:
                del index[getattr(keys, name)]

    def counts(self) -> dict[str, int]:
        """Return the number of rows per state."""
        return {status: len(keys) for status, keys in self._by["status"].items() if status}

    def oldest_first(self, ids: Iterable[str]) -> list[str]:
        """Return ids by time of creation, then by id."""
        return sorted(ids, key=self._position)

    def in_states(self, statuses: Collection[DocStatus], after: Position | None, limit: int | None) -> list[str]:
        """Return ids of rows in any of the states, oldest first, after a position."""
        ids = self._of_states(statuses)
        if after is not None:
            ids = (key for key in ids if self._position(key) > after)
        return self.oldest_first(ids) if limit is None else heapq.nsmallest(limit, ids, key=self._position)

    def sorted_page(self, ids: Iterable[str], wanted: StatusPage) -> list[str]:
        """Return a page of ids in the order that is wanted."""
        field, end = wanted.sort_field, wanted.start + wanted.count

        def order(key: str) -> Position:
            return ("" if field == "id" else getattr(self.keys[key], field), key)

        choose = heapq.nlargest if wanted.newest else heapq.nsmallest
        return choose(end, ids, key=order)[wanted.start :]

    def first_with(self, field: str, value: str, *, besides: str | None = None) -> str | None:
        """Return the oldest row with a value that is no refused attempt."""
        ids = (key for key in self._by[field].get(value, ()) if key != besides and not self.keys[key].is_refused)
        return min(ids, key=self._position, default=None)

    def first_ending_in(self, end: str) -> str | None:
        """Return the oldest row whose source path ends so and that is no refused attempt."""
        ids = (key for key, keys in self.keys.items() if keys.file_path.endswith(end) and not keys.is_refused)
        return min(ids, key=self._position, default=None)

    def of_source(self, file_path: str) -> list[str]:
        """Return the rows of a source path that are no refused attempts, oldest first."""
        return self._all_with("file_path", file_path)

    def of_content(self, content_hash: str) -> list[str]:
        """Return the rows of a content that are no refused attempts, oldest first."""
        return self._all_with("content_hash", content_hash)

    def _all_with(self, field: str, value: str) -> list[str]:
        return self.oldest_first(key for key in self._by[field].get(value, ()) if not self.keys[key].is_refused)

    def conflicts(self, after: str, limit: int) -> list[tuple[str, list[str]]]:
        """Return source paths behind ``after`` that several such rows have, each with those."""
        several = (path for path, keys in self._by["file_path"].items() if len(keys) > 1 and is_source(path))
        found = ((path, self.of_source(path)) for path in sorted(several) if path > after)
        return list(islice(((path, doc_ids) for path, doc_ids in found if len(doc_ids) > 1), limit))

    def with_track(self, track_id: str) -> list[str]:
        """Return the rows of one call, oldest first."""
        return self.oldest_first(self._by["track_id"].get(track_id, ()))

    def _of_states(self, statuses: Collection[DocStatus]) -> Iterator[str]:
        for status in dict.fromkeys(DocStatus(item).value for item in statuses):
            yield from self._by["status"].get(status, ())

    def _position(self, key: str) -> Position:
        return self.keys[key].created_at, key
