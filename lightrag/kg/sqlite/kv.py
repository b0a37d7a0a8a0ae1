"""Key-value stores in SQLite: one table per namespace, rows as JSON."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lightrag.contracts.kv import BaseKVStorage, Record
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.store import SQLiteStore
from lightrag.kg.sqlite.texts import json_list
from lightrag.kg.texts import check_ids, decode_object, encode_json, without

_ADDED_ON_READ = frozenset({"_id", "create_time", "update_time"})


@dataclass(kw_only=True, eq=False)
class SQLiteKVStorage(SQLiteStore, BaseKVStorage):
    """JSON objects by key."""

    supports_strict_point_reads: ClassVar[bool] = True

    @property
    def _table(self) -> str:
        return schema.table_name("kv", self.namespace)

    def _tables(self) -> schema.Statements:
        return schema.key_value_tables(self._table)

    def _delete_all(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"DELETE FROM {self._table}")

    async def get_by_id(self, id: str) -> Record | None:
        """Return the row, or ``None`` when there is none."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Record | None]:
        """Return the rows in the order of ``ids``, ``None`` where there is none."""
        found: list[Record | None] = [None] * len(ids)
        if not ids:
            return found
        statement = (
            "SELECT j.key, t.key, t.value, t.create_time, t.update_time "
            f"FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.key = j.value"
        )
        wanted = (json_list(ids),)
        rows = await self.database.read(lambda c: c.execute(statement, wanted).fetchall(), rows=len(ids))
        for position, key, value, created, updated in rows:
            found[position] = _record(key, value, created, updated)
        return found

    async def filter_keys(self, keys: set[str]) -> set[str]:
        """Return those of ``keys`` that are not stored."""
        if not keys:
            return set()
        statement = f"SELECT t.key FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.key = j.value"
        wanted = (json_list(list(keys)),)
        rows = await self.database.read(lambda c: c.execute(statement, wanted).fetchall(), rows=len(keys))
        return keys - {key for (key,) in rows}

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
        rows = [(key, now, now, encode_json(without(record, _ADDED_ON_READ), key)) for key, record in data.items()]
        statement = (
            f"INSERT INTO {self._table} (key, create_time, update_time, value) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, update_time = excluded.update_time "
            "WHERE value IS NOT excluded.value"
        )

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(statement, rows)

        await self.database.write(write)

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""
        if not ids:
            return
        statement = f"DELETE FROM {self._table} WHERE key IN (SELECT value FROM json_each(?))"
        wanted = (json_list(ids),)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(statement, wanted)

        await self.database.write(write)

    async def is_empty(self) -> bool:
        """Tell whether the namespace holds no row."""
        statement = f"SELECT 1 FROM {self._table} LIMIT 1"
        return not await self.database.read(lambda c: c.execute(statement).fetchall())

    async def scan(self, *, after: str = "", limit: int = 500) -> list[tuple[str, Record]]:
        """Return up to ``limit`` rows whose key sorts after ``after``, by key."""
        statement = f"SELECT key, value, create_time, update_time FROM {self._table} WHERE key > ? ORDER BY key LIMIT ?"
        rows = await self.database.read(lambda c: c.execute(statement, (after, limit)).fetchall(), rows=limit)
        return [(key, _record(key, value, created, updated)) for key, value, created, updated in rows]


def _record(key: str, value: str, created: int, updated: int) -> Record:
    return {**decode_object(value), "create_time": created, "update_time": updated, "_id": key}
