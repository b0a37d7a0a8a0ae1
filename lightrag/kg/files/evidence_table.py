"""Evidence rows in memory, by object and by document."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.exceptions import SchemaVersionError
from lightrag.kg.files.json_file import line_pieces, read_lines
from lightrag.kg.files.key_order import KeyOrder
from lightrag.kg.files.table import Export, NewFile, Operation, Table, Undo

FORMAT = 1

RowKey = tuple[ObjectKind, str, str]
Listener = Callable[[Sequence[Evidence], Sequence[Evidence]], None]


def packed(row: Evidence) -> list[Any]:
    """Return a row as a list, as it stands in files."""
    return [
        row.kind.value,
        row.object_id,
        row.chunk_id,
        row.document_id,
        row.description,
        row.entity_type,
        row.keywords,
        row.weight,
        row.file_path,
        row.created_at,
        row.tenant_tag,
        row.sequence,
    ]


def unpacked(values: Sequence[Any]) -> Evidence:
    """Return the row of a list that :func:`packed` made."""
    kind, object_id, chunk_id, document_id, description, entity_type, keywords, weight, path, *rest = values
    return Evidence(
        ObjectKind(kind),
        sys.intern(object_id),
        sys.intern(chunk_id),
        sys.intern(document_id),
        description,
        sys.intern(entity_type),
        keywords,
        weight,
        sys.intern(path),
        *rest,
    )


def key_of(row: Evidence) -> RowKey:
    """Return what a row is known by."""
    return row.kind, row.object_id, row.chunk_id


class EvidenceTable(Table):
    """``lightrag_evidence.jsonl``: a line about the file, then a line for each row.

    Operations: ``["put", [row]]``, ``["delete", [[kind, object, chunk]]]``, ``["stamp", {document: stamp}]``,
    ``["clear"]``.

    Attributes:
        objects: Rows by object and chunk, each object's in order of arrival.
        stamps: Documents whose evidence is complete, with what they were when it was taken.
        last_sequence: Highest number given to a row.
        listeners: Told of rows that are put and of rows that go.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Start empty."""
        super().__init__(name, folder)
        self.objects: dict[tuple[ObjectKind, str], dict[str, Evidence]] = {}
        self.stamps: dict[str, str] = {}
        self.last_sequence = 0
        self.listeners: list[Listener] = []
        self.count = 0
        self._documents: dict[str, dict[RowKey, None]] = {}
        self._orders = {kind: KeyOrder() for kind in ObjectKind}

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / f"lightrag_{self.namespace}.jsonl"

    def files_on_disk(self) -> Sequence[Path]:
        """Return the file."""
        return (self.path,)

    def load(self) -> None:
        """Read the file."""
        lines = read_lines(self.path)
        header = next(lines, None)
        if header is None:
            return
        if not isinstance(header, dict) or not isinstance(header.get("format"), int):
            raise self.refuse(self.path, "its first line does not say what it is")
        if header["format"] > FORMAT:
            raise SchemaVersionError(f"{str(self.path)!r} was written by a newer version of LightRAG; use that one")
        self.stamps = dict(header["documents"])
        try:
            for values in lines:
                self._put(unpacked(values))
        except (TypeError, ValueError) as error:
            raise self.refuse(self.path, error) from error

    # --- changing ----------------------------------------------------------------------------------------------

    def apply(self, operation: Operation) -> Undo:
        """Put, delete, stamp or clear."""
        match operation:
            case ["put", list(rows)]:
                return self._replace({key_of(row): row for row in map(unpacked, rows)})
            case ["delete", list(keys)]:
                return self._replace(dict.fromkeys((ObjectKind(kind), *ids) for kind, *ids in keys))
            case ["stamp", dict(stamps)]:
                return self._stamp(stamps)
            case ["clear"]:
                return self._replace(dict.fromkeys(key_of(row) for row in self.all_rows()))
        raise ValueError(f"{operation[:1]!r} is no operation of {self.name!r}")

    def clear_operation(self) -> Operation:
        """Return the operation that deletes every row."""
        return ["clear"]

    def _replace(self, rows: Mapping[RowKey, Evidence | None]) -> Undo:
        before = {key: self.get(key) for key in rows}
        for key, row in rows.items():
            if row is not None:
                self._put(row)
            else:
                self._remove(key)
        gone = [row for row in before.values() if row is not None]
        for listener in self.listeners:
            listener([row for row in rows.values() if row is not None], gone)

        def undo() -> None:
            self._replace(before)

        return undo

    def _put(self, row: Evidence) -> None:
        key = key_of(row)
        known = self.get(key)
        if known is not None and (known.document_id != row.document_id or known.sequence != row.sequence):
            self._remove(key)
            known = None
        own = self.objects.get(key[:2])
        if own is None:
            own = self.objects[key[:2]] = {}
            self._orders[row.kind].added()
        is_late = known is None and bool(own) and next(reversed(own.values())).sequence > row.sequence
        own[row.chunk_id] = row
        if is_late:
            self.objects[key[:2]] = {item.chunk_id: item for item in in_order(own.values())}
        self._documents.setdefault(row.document_id, {})[key] = None
        self.last_sequence = max(self.last_sequence, row.sequence)
        if known is None:
            self.count += 1

    def _remove(self, key: RowKey) -> None:
        own = self.objects.get(key[:2])
        row = own.pop(key[2], None) if own else None
        if own is None or row is None:
            return
        if not own:
            del self.objects[key[:2]]
        found = self._documents[row.document_id]
        del found[key]
        if not found:
            del self._documents[row.document_id]
        self.count -= 1

    def _stamp(self, stamps: Mapping[str, str | None]) -> Undo:
        before = {document_id: self.stamps.get(document_id) for document_id in stamps}
        for document_id, stamp in stamps.items():
            if stamp is None:
                self.stamps.pop(document_id, None)
            else:
                self.stamps[document_id] = stamp

        def undo() -> None:
            self._stamp(before)

        return undo

    # --- reading -----------------------------------------------------------------------------------------------

    def get(self, key: RowKey) -> Evidence | None:
        """Return a row, or ``None``."""
        return self.objects.get(key[:2], {}).get(key[2])

    def of_object(self, kind: ObjectKind, object_id: str) -> Iterable[Evidence]:
        """Return the rows of an object in order of arrival."""
        return self.objects.get((kind, object_id), {}).values()

    def of_documents(self, document_ids: Iterable[str]) -> list[Evidence]:
        """Return the rows of documents in order of arrival."""
        keys = (key for document_id in dict.fromkeys(document_ids) for key in self._documents.get(document_id, ()))
        return in_order(self.objects[kind, object_id][chunk_id] for kind, object_id, chunk_id in keys)

    def documents(self) -> Iterable[str]:
        """Return the documents that have rows."""
        return self._documents

    def all_rows(self) -> Iterator[Evidence]:
        """Yield every row, grouped by object."""
        for own in self.objects.values():
            yield from own.values()

    def page(self, kind: ObjectKind, after: str, limit: int, tenant_tag: str | None) -> list[str]:
        """Return up to ``limit`` object ids that sort after ``after``, sorted; of one scope if given."""
        order, present = self._orders[kind], _Objects(self, kind)
        if tenant_tag is None:
            return order.page(present, present, after, limit)
        found: list[str] = []
        while len(found) < limit and (page := order.page(present, present, after, max(limit, 500))):
            after = page[-1]
            found += [key for key in page if any(row.tenant_tag == tenant_tag for row in self.of_object(kind, key))]
        return found[: max(limit, 0)]

    def new_files(self, export: Export) -> Iterator[NewFile]:
        """Return the file."""
        header = {"format": FORMAT, "documents": self.stamps}
        yield NewFile(self.path, line_pieces(chain([header], map(packed, in_order(self.all_rows())))))


def in_order(rows: Iterable[Evidence]) -> list[Evidence]:
    """Return rows in order of arrival."""
    return sorted(rows, key=lambda row: row.sequence)


class _Objects:
    """The ids of a kind's objects."""

    def __init__(self, table: EvidenceTable, kind: ObjectKind) -> None:
        self._objects = table.objects
        self._kind = kind

    def __iter__(self) -> Iterator[str]:
        return (object_id for kind, object_id in self._objects if kind is self._kind)

    def __contains__(self, object_id: object) -> bool:
        return (self._kind, object_id) in self._objects
