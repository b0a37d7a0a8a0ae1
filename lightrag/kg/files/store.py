"""What the five stores have in common: the shared folder, its lifecycle, and the unit of work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from lightrag.contracts.storage import StorageNameSpace
from lightrag.exceptions import InputError, StorageError
from lightrag.kg.files.folder import DataFolder, acquire, release
from lightrag.kg.files.kinds import table_name
from lightrag.kg.files.table import Change, Table
from lightrag.kg.sqlite.database import database_path

T = TypeVar("T", bound=Table)


@dataclass(kw_only=True, eq=False)
class FileStore(StorageNameSpace, Generic[T]):
    """A namespace of a workspace's folder. Every write is durable when its call returns."""

    kind: ClassVar[str]

    _folder: DataFolder | None = field(default=None, init=False, repr=False)

    @property
    def folder(self) -> DataFolder:
        """The opened folder.

        Raises:
            StorageError: The store is not initialised.
        """
        if self._folder is None:
            raise StorageError(f"store {self.namespace!r} is not open; call initialize() first")
        return self._folder

    @property
    def _table_name(self) -> str:
        return table_name(self.kind, self.namespace)

    @property
    def table(self) -> T:
        """The namespace in memory; read it under :attr:`DataFolder.lock`."""
        table: T = self.folder.tables[self._table_name]  # type: ignore[assignment]
        return table

    @property
    def transaction_group(self) -> Hashable | None:
        """All file stores of one workspace and working directory commit together."""
        return self._folder

    async def initialize(self) -> None:
        """Open the folder and read the files of the namespace.

        With ``read_only`` in the configuration nothing is ever written, not even a lock.

        Raises:
            InputError: The workspace or namespace cannot be used as a name.
            StorageError: The folder is in use by another process, or a file is damaged.
            SchemaVersionError: A newer version wrote it.
            EmbeddingMismatchError: It holds vectors of another model.
        """
        if self._folder is not None:
            return
        if not self.namespace.isidentifier():
            raise InputError(f"namespace {self.namespace!r} must be a name of letters, digits and '_'")
        path = database_path(str(self.global_config["working_dir"]), self.workspace).parent
        read_only = bool(self.global_config.get("read_only", False))
        folder = await asyncio.to_thread(acquire, path, self.global_config, read_only=read_only)
        try:
            self._check(await folder.open_table(self._table_name))
        except BaseException:
            await asyncio.to_thread(release, folder)
            raise
        if self._folder is not None:
            await asyncio.to_thread(release, folder)
            return
        folder.opened(self._table_name, 1)
        self._folder = folder

    async def finalize(self) -> None:
        """Give the folder back; the last store of a workspace brings the files up to date."""
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.opened(self._table_name, -1)
            await asyncio.to_thread(release, folder)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Write everything that any store of the workspace writes in the block together, or nothing of it."""
        async with self.folder.transaction():
            yield

    async def drop(self) -> dict[str, str]:
        """Delete everything in the namespace."""
        table = self.table

        def write(change: Change) -> None:
            change.apply(table, table.clear_operation())

        try:
            await self.folder.write(write)
        except StorageError as error:
            return {"status": "error", "message": str(error)}
        return {"status": "success", "message": f"{self.namespace} of workspace {self.workspace!r} is empty"}

    def _check(self, table: Any) -> None:
        """Refuse a table whose content does not fit."""
