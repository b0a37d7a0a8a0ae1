"""Which documents speak of which entities and relations, in memory.

Objects are named by numbers that the store gives them, rows by the store's sequence numbers, documents by the ordinals
of a :class:`~lightrag.kg.document_index.DocumentIndex`. The texts of the rows stay in the store.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from lightrag.contracts.evidence import ObjectKind
from lightrag.kg.growing import GrowingArray
from lightrag.kg.masks import Mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Rows that are not ordered by object yet; beyond this share of the others they are.
_UNORDERED_SHARE = 8
_MIN_UNORDERED = 1024
# Masks of visible objects remembered at the most.
_REMEMBERED = 16

Sequences: TypeAlias = "NDArray[np.int64]"


class EvidenceRows(NamedTuple):
    """Rows of one kind, all arrays of the same length.

    Attributes:
        sequences: Number of each row; higher numbers came later.
        objects: Number of its object.
        documents: Ordinal of its document.
    """

    sequences: Sequences
    objects: NDArray[np.integer]
    documents: NDArray[np.integer]

    def at(self, which: NDArray[np.generic]) -> EvidenceRows:
        """Return some of the rows, by positions or by a mask."""
        return EvidenceRows(self.sequences[which], self.objects[which], self.documents[which])


@dataclass(frozen=True, slots=True)
class Limit:
    """How many rows of each object are wanted; ``None`` for all.

    Attributes:
        rows: Number of rows.
        newest: The newest ones; otherwise the oldest.
    """

    rows: int | None = None
    newest: bool = False

    def of(self, rows: Sequences) -> Sequences:
        """Return the wanted rows of one object, given all of them in order."""
        if self.rows is None or len(rows) <= self.rows:
            return rows
        return rows[len(rows) - max(self.rows, 0) :] if self.newest else rows[: max(self.rows, 0)]


class EvidenceIndex:
    """The evidence of a workspace without its texts. All methods may be called from any thread."""

    def __init__(self, lock: threading.RLock | None = None) -> None:
        """Start without rows.

        Args:
            lock: That of the index of documents, so that both can be asked about the same state.
        """
        self.lock = lock or threading.RLock()
        self._kinds = {kind: _KindRows() for kind in ObjectKind}

    def put(self, kind: ObjectKind, rows: EvidenceRows) -> None:
        """Add rows, or replace those with the same sequence number."""
        with self.lock:
            self._kinds[kind].put(rows)

    def remove(self, sequences: Collection[int]) -> None:
        """Take rows out; unknown ones are passed over."""
        with self.lock:
            gone = np.fromiter(sequences, dtype=np.int64, count=len(sequences))
            for rows in self._kinds.values():
                rows.remove(gone)

    def remove_objects(self, kind: ObjectKind, objects: Sequence[int]) -> None:
        """Take out all rows of objects."""
        with self.lock:
            self._kinds[kind].remove_objects(objects)

    def clear(self) -> None:
        """Take all rows out."""
        with self.lock:
            self._kinds = {kind: _KindRows() for kind in ObjectKind}

    def visible(self, kind: ObjectKind, eligible: Mask) -> Mask:
        """Return which objects have a row of an eligible document.

        Args:
            kind: Entity or relation.
            eligible: By ordinal of the document.

        Returns:
            By number of the object; objects with higher numbers have no rows. Read-only, and the same array as long
            as nothing changes and the same mask is given.
        """
        with self.lock:
            return self._kinds[kind].visible(eligible)

    def rows(
        self, kind: ObjectKind, objects: Sequence[int], eligible: Mask, limit: Limit | None = None
    ) -> dict[int, Sequences]:
        """Return the sequence numbers of the eligible rows of objects, ascending; objects without any are left out."""
        with self.lock:
            return self._kinds[kind].rows(objects, eligible, limit or Limit())


class _KindRows:
    """Rows of one kind, ascending by sequence number; a row that is gone has the document -1."""

    def __init__(self) -> None:
        self._sequences = GrowingArray(np.int64)
        self._objects = GrowingArray(np.int32)
        self._documents = GrowingArray(np.int32, -1)
        # The first rows by object: positions, and where each object's begin.
        self._ordered = 0
        self._order: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._visible: dict[int, tuple[Mask, Mask]] = {}

    # --- changing --------------------------------------------------------------------------------------------------

    def put(self, rows: EvidenceRows) -> None:
        if not len(rows.sequences):
            return
        self._visible.clear()
        self._cut_gone_rows()
        places, known = self._places_of(rows.sequences)
        if known.any():
            self._replace(places[known], rows.at(known))
        new = np.flatnonzero(~known)
        new = new[np.argsort(rows.sequences[new], kind="stable")]
        if len(new) and len(self._sequences) and rows.sequences[new[0]] < self._sequences.values[-1]:
            self._insert(rows.at(new))
            return
        self._sequences.extend(rows.sequences[new])
        self._objects.extend(rows.objects[new])
        self._documents.extend(rows.documents[new])

    def remove(self, sequences: Sequences) -> None:
        places, known = self._places_of(sequences)
        if known.any():
            self._visible.clear()
            self._documents.values[places[known]] = -1

    def remove_objects(self, objects: Sequence[int]) -> None:
        self._visible.clear()
        self._documents.values[np.isin(self._objects.values, np.array(objects, dtype=np.int64))] = -1

    def _places_of(self, sequences: Sequences) -> tuple[NDArray[np.intp], Mask]:
        """Return where rows stand, and which of them are there at all."""
        stored = self._sequences.values
        if not len(stored):
            return np.zeros(len(sequences), dtype=np.intp), np.zeros(len(sequences), dtype=np.bool_)
        places = np.minimum(np.searchsorted(stored, sequences), len(stored) - 1)
        known: Mask = stored[places] == sequences
        return places, known

    def _cut_gone_rows(self) -> None:
        """Cut rows off the end that are gone: a store may give their numbers again."""
        documents = self._documents.values
        if not len(documents) or documents[-1] >= 0:
            return
        alive = np.flatnonzero(documents >= 0)
        size = int(alive[-1]) + 1 if len(alive) else 0
        if size < len(self._sequences):
            for column in (self._sequences, self._objects, self._documents):
                column.resize(size)
            if size < self._ordered:
                self._ordered = 0

    def _replace(self, places: NDArray[np.intp], rows: EvidenceRows) -> None:
        if (self._objects.values[places] != rows.objects).any():
            self._ordered = 0
        self._objects.values[places] = rows.objects
        self._documents.values[places] = rows.documents

    def _insert(self, rows: EvidenceRows) -> None:
        """Add rows among the others, which happens only when rows come back under old numbers."""
        sequences = np.concatenate([self._sequences.values, rows.sequences])
        order = np.argsort(sequences, kind="stable")
        for column, part in zip((self._sequences, self._objects, self._documents), rows, strict=True):
            column.extend(part)
            column.keep(order)
        self._ordered = 0

    # --- asking ----------------------------------------------------------------------------------------------------

    def visible(self, eligible: Mask) -> Mask:
        known = self._visible.get(id(eligible))
        if known is not None:
            return known[1]
        objects = self._objects.values
        mask = np.zeros(int(objects.max(initial=-1)) + 1, dtype=np.bool_)
        mask[objects[_with_gone(eligible)[self._documents.values]]] = True
        mask.flags.writeable = False
        if len(self._visible) >= _REMEMBERED:
            self._visible.clear()
        # The key is the identity of the mask, which is kept so that nothing else can get it.
        self._visible[id(eligible)] = (eligible, mask)
        return mask

    def rows(self, objects: Sequence[int], eligible: Mask, limit: Limit) -> dict[int, Sequences]:
        self._order_if_due()
        admitted = _with_gone(eligible)
        sequences, documents = self._sequences.values, self._documents.values
        late = self._late_rows(objects)
        found: dict[int, Sequences] = {}
        for number in objects:
            places = self._ordered_rows(number)
            if number in late:
                places = np.concatenate([places, late[number]])
            own = limit.of(sequences[places[admitted[documents[places]]]])
            if len(own):
                found[number] = own
        return found

    def _ordered_rows(self, number: int) -> NDArray[np.int32]:
        if not 0 <= number < len(self._starts) - 1:
            return self._order[:0]
        return self._order[self._starts[number] : self._starts[number + 1]]

    def _late_rows(self, objects: Sequence[int]) -> dict[int, NDArray[np.int32]]:
        late = self._objects.values[self._ordered :]
        if not len(late):
            return {}
        places = np.flatnonzero(np.isin(late, np.array(objects, dtype=np.int64)))
        found: dict[int, list[int]] = {}
        for number, place in zip(late[places].tolist(), (places + self._ordered).tolist(), strict=True):
            found.setdefault(number, []).append(place)
        return {number: np.array(rows, dtype=np.int32) for number, rows in found.items()}

    def _order_if_due(self) -> None:
        count = len(self._objects)
        if self._ordered and count - self._ordered <= max(_MIN_UNORDERED, self._ordered // _UNORDERED_SHARE):
            return
        objects = self._objects.values
        self._order = np.argsort(objects, kind="stable").astype(np.int32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(objects))]) if count else np.zeros(1, dtype=np.int64)
        self._ordered = count


def _with_gone(eligible: Mask) -> Mask:
    """Return a mask that answers for the document -1 as well: never eligible."""
    return np.append(eligible, np.False_)
