"""What a command can do with a corpus, the same for a folder and for a server.

Everything goes in and out in the form of the HTTP interface, so that a command prints the same whichever it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lightrag.cli.source_files import SourceFile

Row = dict[str, Any]
Fields = Mapping[str, Any]
Told = Callable[[int, int, str], None]
"""Told how many of how many are done, and what is at hand."""

FINISHED = ("processed", "failed")
WAITING = ("pending", "parsing", "analyzing", "processing")


@dataclass(frozen=True)
class Stored:
    """What became of a file when it was handed over.

    Attributes:
        file: The file.
        status: ``stored`` and waiting to be processed, ``known`` from before, ``failed`` before, or ``refused``.
        message: Why it is not stored; ``""`` if it is.
        track_id: Names the act of storing; ``""`` without one.
        doc_id: Document that it is known as; ``""`` for a new one.
    """

    file: SourceFile
    status: Literal["stored", "known", "failed", "refused"]
    message: str = ""
    track_id: str = ""
    doc_id: str = ""


def stored_before(file: SourceFile, row: Row) -> Stored:
    """Return what becomes of a file whose document is there already; one that waits is waited for."""
    if row["status"] in WAITING:
        return Stored(file, "stored", track_id=row["track_id"] or "", doc_id=row["id"])
    if row["status"] == "failed":
        again = "`lightrag documents retry` tries it again"
        return Stored(file, "failed", f"failed before: {row['error_msg']}; {again}", doc_id=row["id"])
    return Stored(file, "known", f"already stored (status {row['status']})", doc_id=row["id"])


@dataclass(frozen=True)
class Page:
    """Which page of a list.

    Attributes:
        number: From 1.
        size: Documents on a page, 10 to 200.
        statuses: Only documents in these states; none for all.
        sort: ``updated_at``, ``created_at``, ``id`` or ``file_path``.
        direction: ``asc`` or ``desc``.
    """

    number: int = 1
    size: int = 50
    statuses: Sequence[str] = ()
    sort: str = "updated_at"
    direction: str = "desc"


@dataclass(frozen=True)
class View:
    """Which part of the graph.

    Attributes:
        name: Entity at its centre; ``*`` for the best connected ones.
        depth: Hops from it.
        nodes: Entities at the most.
        scope: Scope tag; ``None`` for the whole.
    """

    name: str
    depth: int = 1
    nodes: int = 100
    scope: str | None = None


class Corpus(ABC):
    """A corpus that is open."""

    # --- documents ---------------------------------------------------------------------------------------------------

    @abstractmethod
    async def extensions(self) -> list[str]:
        """Return the suffixes of files that can be read, with the dot, in lower case."""

    @abstractmethod
    async def store(self, file: SourceFile) -> Stored:
        """Hand a file over; when this returns ``stored``, a crash does not lose it."""

    @abstractmethod
    async def process(self, stored: Sequence[Stored], told: Told) -> dict[str, Row]:
        """Wait until stored files are processed or have failed.

        Returns:
            The documents, by source path of the file.
        """

    @abstractmethod
    async def retry(self, told: Told, doc_ids: Sequence[str] = ()) -> list[Row]:
        """Try failed documents once more, all or those given, finish what waits, and return what was tried again.

        Raises:
            LightRAGError: One of those given has not failed.
        """

    @abstractmethod
    async def documents(self, fields: Fields, page: Page) -> Row:
        """Return a page: ``documents``, ``pagination``, ``status_counts``."""

    @abstractmethod
    async def document(self, name: str) -> Row | None:
        """Return a document by id or by source path; ``None`` when there is none."""

    @abstractmethod
    async def set_metadata(self, doc_id: str, patch: Fields) -> Row:
        """Replace fields of a document's metadata, and return the document."""

    @abstractmethod
    async def delete(self, doc_ids: Sequence[str], *, with_replies: bool) -> dict[str, str]:
        """Delete documents.

        Args:
            doc_ids: Documents that exist.
            with_replies: Also forget what the model said about them.

        Returns:
            Why not, for each that was not deleted.
        """

    # --- questions ---------------------------------------------------------------------------------------------------

    @abstractmethod
    async def answer(self, question: Fields) -> Row:
        """Return a whole answer: ``response``, ``references``, ``response_time``, ``llm_generated``."""

    @abstractmethod
    def answer_lines(self, question: Fields) -> AsyncIterator[Row]:
        """Yield an answer as it comes: ``references`` first, then pieces ``response``, or an ``error``."""

    @abstractmethod
    async def preview(self, fields: Fields) -> Row:
        """Return what a filter would match."""

    @abstractmethod
    async def facets(self, fields: Fields) -> Row:
        """Return what there is to filter by."""

    # --- graph -------------------------------------------------------------------------------------------------------

    @abstractmethod
    async def graph(self, view: View) -> Row:
        """Return a part of the graph: ``nodes``, ``edges``, ``is_truncated``."""

    @abstractmethod
    async def similar_names(self, text: str, scope: str | None) -> list[str]:
        """Return names of entities that contain a text."""

    @abstractmethod
    async def scopes(self) -> dict[str, int | None]:
        """Return the scopes, each with the number of its entities, ``None`` where that cannot be told."""
