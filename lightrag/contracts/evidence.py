"""Evidence: which chunk of which document says what about an entity or a relation.

Evidence rows are the record; nodes, edges and their vectors are derived from them. A delete or an edit recomputes an
object from its remaining rows, and a filtered query reads an object through the rows of the eligible documents.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from lightrag.constants import MANUAL_SOURCE_ID
from lightrag.contracts.storage import StorageNameSpace
from lightrag.exceptions import UnsupportedFilterError

if TYPE_CHECKING:
    from lightrag.query_filters import VectorQueryFilter


class ObjectKind(StrEnum):
    """The two kinds of knowledge-graph objects."""

    ENTITY = "entity"
    RELATION = "relation"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row per (object, chunk).

    Attributes:
        kind: Entity or relation.
        object_id: Graph id of the entity, or :func:`relation_key` of the relation's ends.
        chunk_id: The chunk that says it.
        document_id: The chunk's document.
        description: What the chunk says.
        entity_type: Type the chunk gives the entity; ``""`` for relations.
        keywords: Comma-separated keywords of the relation; ``""`` for entities.
        weight: Strength the chunk gives the relation; 0.0 for entities.
        file_path: Source path of the document.
        created_at: Epoch seconds of the extraction.
        tenant_tag: Scope of the object; ``""`` is the aggregate.
        sequence: Order of arrival, given by the store; later rows have higher numbers.
    """

    kind: ObjectKind
    object_id: str
    chunk_id: str
    document_id: str
    description: str = ""
    entity_type: str = ""
    keywords: str = ""
    weight: float = 0.0
    file_path: str = ""
    created_at: int = 0
    tenant_tag: str = ""
    sequence: int = 0


class EvidenceSource(NamedTuple):
    """Where an object's evidence comes from, without its text."""

    chunk_id: str
    document_id: str
    file_path: str


# --- what people say by hand -----------------------------------------------------------------------------------------

# Rows of people name one of these instead of a document; neither has a status row.
STATEMENT_DOCUMENT_ID = MANUAL_SOURCE_ID
CORRECTION_DOCUMENT_ID = "manual_edit"
_SCOPED_STATEMENT = f"{STATEMENT_DOCUMENT_ID}:"


def is_statement_document(document_id: str) -> bool:
    """Tell whether an id stands for what a person said of a new object, in any scope."""
    return document_id == STATEMENT_DOCUMENT_ID or document_id.startswith(_SCOPED_STATEMENT)


def is_correction_document(document_id: str) -> bool:
    """Tell whether an id stands for a person's change to what documents say.

    It may repeat words of any document, so no filter can vouch for it: a filtered query never sees it.
    """
    return document_id == CORRECTION_DOCUMENT_ID


def statement_document(tenant_tag: str) -> str:
    """Return the id for statements of a scope; ``""`` is the aggregate."""
    return f"{_SCOPED_STATEMENT}{tenant_tag}" if tenant_tag else STATEMENT_DOCUMENT_ID


def missing_document_metadata(document_id: str) -> dict[str, Any] | None:
    """Return the metadata of a document without a status row, for filters.

    A statement of a scope carries that tag; everything else is undated and untagged (``None``).
    """
    tag = document_id.removeprefix(_SCOPED_STATEMENT)
    return {"user_tags": [tag]} if tag != document_id else None


# --- the ids of relations --------------------------------------------------------------------------------------------

RELATION_KEY_SEPARATOR = "\x1e"


def relation_key(source: str, target: str) -> str:
    """Return the object id of an undirected relation: its sorted ends, joined by U+001E.

    The separator is a control character, which names never hold, so no two relations share a key.
    """
    first, second = sorted((source, target))
    return f"{first}{RELATION_KEY_SEPARATOR}{second}"


def split_relation_key(key: str) -> tuple[str, str]:
    """Return the two ends of :func:`relation_key`, sorted."""
    first, _, second = key.partition(RELATION_KEY_SEPARATOR)
    return first, second


@dataclass(kw_only=True, eq=False)
class BaseEvidenceStorage(StorageNameSpace):
    """Evidence rows, found by object and by document.

    A store that knows the documents of its workspace says so by ``filters_by_documents`` and overrides the three
    methods that take a filter; of any other store the caller reads the rows and asks which documents are eligible.
    """

    @property
    def filters_by_documents(self) -> bool:
        """Whether the methods that take a filter can be called. It depends on which stores are open together."""
        return False

    @abstractmethod
    async def add(self, rows: Sequence[Evidence]) -> None:
        """Insert rows; a row with the same kind, object and chunk is replaced and keeps its place in the order."""

    @abstractmethod
    async def of_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], *, document_ids: Collection[str] | None = None
    ) -> dict[str, list[Evidence]]:
        """Return the rows of objects in order of arrival; objects without rows are left out.

        Args:
            kind: Entity or relation.
            object_ids: Which objects.
            document_ids: Only rows of these documents. An empty collection gives an empty result.
        """

    @abstractmethod
    async def sources_of_objects(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        *,
        document_ids: Collection[str] | None = None,
        limit: int | None = None,
    ) -> dict[str, list[EvidenceSource]]:
        """As :meth:`of_objects`, without texts; ``limit`` keeps the oldest rows of each object."""

    async def eligible_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], metadata_filter: VectorQueryFilter
    ) -> set[str]:
        """Return those objects that have a row of a document which the filter accepts.

        Raises:
            UnsupportedFilterError: The store cannot filter; raised before any I/O.
        """
        raise UnsupportedFilterError(f"{type(self).__name__} cannot filter evidence by documents")

    async def excluded_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], metadata_filter: VectorQueryFilter
    ) -> set[str]:
        """Return those objects that have a row of a document which the filter does not accept.

        A person's corrections are no such rows: they repeat what documents say.

        Raises:
            UnsupportedFilterError: The store cannot filter; raised before any I/O.
        """
        raise UnsupportedFilterError(f"{type(self).__name__} cannot filter evidence by documents")

    async def eligible_of_objects(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        metadata_filter: VectorQueryFilter,
        *,
        newest: int | None = None,
    ) -> dict[str, list[Evidence]]:
        """As :meth:`of_objects`, only rows of documents which the filter accepts; ``newest`` keeps the newest of each.

        Raises:
            UnsupportedFilterError: The store cannot filter; raised before any I/O.
        """
        raise UnsupportedFilterError(f"{type(self).__name__} cannot filter evidence by documents")

    async def eligible_sources(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        metadata_filter: VectorQueryFilter,
        *,
        limit: int | None = None,
    ) -> dict[str, list[EvidenceSource]]:
        """As :meth:`sources_of_objects`, only of documents which the filter accepts.

        Raises:
            UnsupportedFilterError: The store cannot filter; raised before any I/O.
        """
        raise UnsupportedFilterError(f"{type(self).__name__} cannot filter evidence by documents")

    @abstractmethod
    async def of_documents(self, document_ids: Collection[str]) -> list[Evidence]:
        """Return all rows of documents, in order of arrival."""

    @abstractmethod
    async def objects_of_documents(self, document_ids: Collection[str]) -> dict[ObjectKind, list[str]]:
        """Return the ids of all objects that have a row of these documents, in order of first arrival."""

    @abstractmethod
    async def drop_documents(self, document_ids: Collection[str]) -> None:
        """Delete all rows of documents."""

    @abstractmethod
    async def drop_of_document(self, document_id: str, tenant_tags: Collection[str]) -> None:
        """Delete the rows that a document has in the given scopes."""

    @abstractmethod
    async def drop_objects(self, kind: ObjectKind, object_ids: Collection[str]) -> None:
        """Delete all rows of objects."""

    @abstractmethod
    async def reassign(self, kind: ObjectKind, renames: Mapping[str, str]) -> None:
        """Move rows from old to new object ids.

        Where both have a row of one chunk, the moved one is kept only if the other has no description.
        """

    @abstractmethod
    async def scan_objects(
        self, kind: ObjectKind, *, after: str = "", limit: int = 500, tenant_tag: str | None = None
    ) -> list[str]:
        """Return up to ``limit`` distinct object ids that sort after ``after``, sorted; of one scope if given."""

    @abstractmethod
    async def count(self) -> int:
        """Return the number of rows."""
