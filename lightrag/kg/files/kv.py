"""Key-value stores in JSON files."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lightrag.contracts.kv import BaseKVStorage, Record
from lightrag.kg.files.kinds import KEY_VALUE
from lightrag.kg.files.row_table import RowTable
from lightrag.kg.files.store import FileStore
from lightrag.kg.files.table import Change
from lightrag.kg.texts import check_ids, encode_json, without

_ADDED_ON_READ = frozenset({"_id", "create_time", "update_time"})


@dataclass(kw_only=True, eq=False)
class JsonKVStorage(FileStore[RowTable], BaseKVStorage):
    """JSON objects by key, in ``kv_store_<namespace>.json``."""

    kind: ClassVar[str] = KEY_VALUE
    supports_strict_point_reads: ClassVar[bool] = True

    async def get_by_id(self, id: str) -> Record | None:
        """Return the row, or ``None`` when there is none."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Record | None]:
        """Return the rows in the order of ``ids``, ``None`` where there is none."""
        rows = self.table.rows
        return [None if (text := rows.get(key)) is None else record_of(text, key) for key in ids]

    async def filter_keys(self, keys: set[str]) -> set[str]:
        """Return those of ``keys`` that are not stored."""
        return keys - self.table.rows.keys()

    async def upsert(self, data: Mapping[str, Record]) -> None:
        """Insert or replace rows. ``create_time`` of a replaced row is kept; a row that does not change is not written.

        Raises:
            InputError: A key or value cannot be stored.
            StorageFullError: The disk is full. Nothing of ``data`` was stored.
        """
        if not data:
            return
        check_ids(data)
        now = int(time.time())
        bodies = {key: encode_json(without(record, _ADDED_ON_READ), key) for key, record in data.items()}
        table = self.table

        def write(change: Change) -> None:
            rows = {}
            for key, body in bodies.items():
                before = table.rows.get(key)
                row = json.loads(before) if before is not None else {}
                if before is None or without(row, _ADDED_ON_READ) != json.loads(body):
                    rows[key] = _with_times(body, key, int(row.get("create_time", now)), now)
            if rows:
                change.apply(table, ["put", rows])

        await self.folder.write(write)

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""
        if not ids:
            return
        table, wanted = self.table, list(ids)

        def write(change: Change) -> None:
            gone = [key for key in dict.fromkeys(wanted) if key in table.rows]
            if gone:
                change.apply(table, ["delete", gone])

        await self.folder.write(write)

    async def is_empty(self) -> bool:
        """Tell whether the namespace holds no row."""
        return not self.table.rows

    async def scan(self, *, after: str = "", limit: int = 500) -> list[tuple[str, Record]]:
        """Return up to ``limit`` rows whose key sorts after ``after``, by key."""
        with self.folder.lock:
            page = self.table.page(after, limit)
        return [(key, record_of(text, key)) for key, text in page]


def record_of(text: str, key: str) -> Record:
    """Return a row as it is read; a row of other tools may lack its own key."""
    row: dict[str, Any] = json.loads(text)
    row["_id"] = key
    return row


def _with_times(body: str, key: str, created: int, updated: int) -> str:
    added = f'"create_time":{created},"update_time":{updated},"_id":{encode_json(key, key)}}}'
    return f"{body[:-1]}{',' if len(body) > 2 else ''}{added}"
