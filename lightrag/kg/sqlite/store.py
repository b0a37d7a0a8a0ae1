"""What the five stores have in common: the shared database, its lifecycle, and the unit of work."""

from __future__ import annotations

import asyncio
import sqlite3
from abc import abstractmethod
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from lightrag.contracts.storage import StorageNameSpace
from lightrag.exceptions import StorageError
from lightrag.kg.sqlite.database import Database, acquire, release
from lightrag.kg.sqlite.schema import Statements
from lightrag.kg.sqlite.writer import AfterCommit


@dataclass(kw_only=True, eq=False)
class SQLiteStore(StorageNameSpace):
    """A namespace of a workspace's database. Every write is durable when its call returns."""

    _database: Database | None = field(default=None, init=False, repr=False)

    @property
    def database(self) -> Database:
        """The opened database.

        Raises:
            StorageError: The store is not initialised.
        """
        if self._database is None:
            raise StorageError(f"store {self.namespace!r} is not open; call initialize() first")
        return self._database

    @property
    def transaction_group(self) -> Hashable | None:
        """All stores of one workspace and working directory commit together."""
        return self._database

    async def initialize(self) -> None:
        """Open the file, create the tables of the namespace, and look whether what is stored can be used.

        Raises:
            InputError: The workspace or namespace cannot be used as a name.
            StorageError: The file cannot be opened or written.
            SchemaVersionError: It was written by a newer version.
            EmbeddingMismatchError: It holds vectors of another model.
        """
        if self._database is not None:
            return
        self._tables()  # refuses a namespace that cannot be a name before any file is made
        working_dir = str(self.global_config["working_dir"])
        database = await asyncio.to_thread(acquire, working_dir, self.workspace)
        try:
            await self._create(database)
            await self._check(database)
        except BaseException:
            await asyncio.to_thread(release, database)
            raise
        if self._database is not None:
            await asyncio.to_thread(release, database)
            return
        self._database = database
        database.tables.update(self._tables().keys())

    async def finalize(self) -> None:
        """Give the database back; the last store of a workspace folds the log into the file and closes it."""
        database, self._database = self._database, None
        if database is not None:
            database.tables.subtract(self._tables().keys())
            await asyncio.to_thread(release, database)

    def _shares(self, table: str) -> bool:
        """Tell whether a store of the same database, opened in this process, keeps its rows in a table.

        A table that no store has opened may be left over from other settings.
        """
        return self._database is not None and self._database.tables[table] > 0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Commit everything written in the block, by any store of the workspace, in one transaction."""
        async with self.database.transaction():
            yield

    async def drop(self) -> dict[str, str]:
        """Delete everything in the namespace."""
        try:
            await self.database.write(self._delete_all)
        except StorageError as error:
            return {"status": "error", "message": str(error)}
        self.database.left_holes()
        return {"status": "success", "message": f"{self.namespace} of workspace {self.workspace!r} is empty"}

    @abstractmethod
    def _tables(self) -> Statements:
        """Return the statements that create the tables of the namespace."""

    @abstractmethod
    def _delete_all(self, connection: sqlite3.Connection) -> AfterCommit | None:
        """Delete every row of the namespace."""

    async def _check(self, database: Database) -> None:
        """Refuse a database whose content does not fit."""

    async def _create(self, database: Database) -> None:
        statements = self._tables()

        def existing(connection: sqlite3.Connection) -> set[str]:
            return {name for (name,) in connection.execute("SELECT name FROM sqlite_master").fetchall()}

        def create(connection: sqlite3.Connection) -> None:
            for statement in statements.values():
                connection.execute(statement)

        if not statements.keys() <= await database.read(existing):
            await database.write(create)
