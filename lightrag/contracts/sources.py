"""Source paths that stand for more than one document: how they are told, listed and repaired.

Enqueuing refuses a path that is taken, so a conflict comes from elsewhere: from files that another program wrote, from
two programs at once, from rows put in by hand. One document is then made the one that the path stands for; the others
stay what they are, and are marked as repetitions of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.contracts.document_rows import DocSchedulingRecord
from lightrag.exceptions import InputError, SourceConflictRepairCASError

SAMPLE_SIZE = 20
"""Ids that a summary names at the most."""


class CursorPosition:
    """Where a page begins: ``CURSOR_START``, ``CURSOR_END``, or what the page before gave."""

    def __init__(self, name: str) -> None:
        """Name one of the two ends."""
        self._name = name

    def __repr__(self) -> str:
        """Return the name."""
        return self._name


@dataclass(frozen=True, repr=True)
class CursorAfter(CursorPosition):
    """Behind an entry.

    Attributes:
        opaque: Which entry, as only the store reads it.
    """

    opaque: str


CURSOR_START = CursorPosition("CURSOR_START")
CURSOR_END = CursorPosition("CURSOR_END")


@dataclass(frozen=True)
class SourceAbsent:
    """No document has the path."""


@dataclass(frozen=True)
class SourceUnique:
    """One document has the path.

    Attributes:
        doc_id: The document.
        doc: What is known of it.
    """

    doc_id: str
    doc: DocSchedulingRecord


@dataclass(frozen=True)
class SourceConflict:
    """Several documents have the path.

    Attributes:
        candidate_count: How many.
        sample_doc_ids: Some of them, oldest first.
    """

    candidate_count: int | None
    sample_doc_ids: tuple[str, ...]


SourceResolution = SourceAbsent | SourceUnique | SourceConflict


@dataclass(frozen=True)
class SourceConflictSummary:
    """A path that several documents have.

    Attributes:
        canonical_source_key: The path.
        candidate_count: How many have it.
        sample_doc_ids: Some of them, oldest first.
    """

    canonical_source_key: str
    candidate_count: int | None
    sample_doc_ids: tuple[str, ...]


@dataclass(frozen=True)
class SourceConflictPage:
    """Some of the conflicts, by path.

    Attributes:
        conflicts: The conflicts of the page.
        next_position: Where the next page begins; ``CURSOR_END`` after the last one.
    """

    conflicts: tuple[SourceConflictSummary, ...]
    next_position: CursorPosition


@dataclass(frozen=True)
class SourceConflictRepairResult:
    """What a repair did, or would do.

    Attributes:
        canonical_source_key: The path.
        primary_doc_id: The document that it stands for afterwards.
        candidate_count: How many documents had it.
        fingerprint: Of which documents they were; a repair that is meant seriously names it.
        demoted_sample_doc_ids: Some of those that become repetitions.
        committed: Whether it was done.
    """

    canonical_source_key: str
    primary_doc_id: str
    candidate_count: int
    fingerprint: str
    demoted_sample_doc_ids: tuple[str, ...]
    committed: bool


@dataclass(frozen=True)
class SourceRepair:
    """What a repair is asked to do.

    Attributes:
        canonical_source_key: The path.
        primary_doc_id: The document that it shall stand for.
        expected_candidate_count: How many documents the caller saw.
        expected_candidate_fingerprint: Fingerprint of what the caller saw.
    """

    canonical_source_key: str
    primary_doc_id: str
    expected_candidate_count: int
    expected_candidate_fingerprint: str

    def plan(self, candidates: Sequence[str]) -> SourceConflictRepairResult:
        """Tell what would be done.

        Args:
            candidates: Documents that have the path now.

        Raises:
            InputError: The document that was chosen is not one of them.
        """
        if self.primary_doc_id not in candidates:
            raise InputError(
                f"primary_doc_id {self.primary_doc_id!r} does not have the source path {self.canonical_source_key!r}; "
                f"these have: {', '.join(map(repr, candidates[:SAMPLE_SIZE])) or 'no document'}"
            )
        demoted = tuple(doc_id for doc_id in candidates if doc_id != self.primary_doc_id)
        return SourceConflictRepairResult(
            self.canonical_source_key,
            self.primary_doc_id,
            len(candidates),
            fingerprint(self.canonical_source_key, candidates),
            demoted[:SAMPLE_SIZE],
            committed=False,
        )

    def demoted(self, candidates: Sequence[str]) -> list[str]:
        """Return the documents that become repetitions, if they are still those that the caller saw.

        Raises:
            InputError: The document that was chosen is not one of them.
            SourceConflictRepairCASError: They are others than the caller saw.
        """
        now = self.plan(candidates)
        seen = (self.expected_candidate_count, self.expected_candidate_fingerprint)
        if seen != (now.candidate_count, now.fingerprint):
            raise SourceConflictRepairCASError(
                f"the documents of {self.canonical_source_key!r} have changed since they were looked at (now "
                f"{now.candidate_count}, expected {self.expected_candidate_count}); nothing was done, look again"
            )
        return [doc_id for doc_id in candidates if doc_id != self.primary_doc_id]

    def marks(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return the metadata of a document that becomes a repetition."""
        return {
            **metadata,
            "is_duplicate": True,
            "duplicate_kind": "source_conflict",
            "original_doc_id": self.primary_doc_id,
        }


def fingerprint(canonical_source_key: str, candidates: Sequence[str]) -> str:
    """Return a text that is another one as soon as a document comes or goes, SHA-256 in hex."""
    return sha256(json.dumps([canonical_source_key, sorted(candidates)]).encode()).hexdigest()


def is_source(file_path: str) -> bool:
    """Tell whether a path names a source; documents without one are not in conflict with each other."""
    return bool(file_path) and file_path != UNKNOWN_SOURCE


def page_after(position: CursorPosition, limit: int) -> str | None:
    """Return the path after which a page begins, ``None`` for a page behind the last one.

    Raises:
        InputError: The limit is not positive, or the position is none.
    """
    if limit < 1:
        raise InputError(f"limit {limit!r} must be 1 or more")
    if position is CURSOR_START:
        return ""
    if position is CURSOR_END:
        return None
    if not isinstance(position, CursorAfter):
        raise InputError(f"position {position!r} is none; take CURSOR_START or the next_position of a page")
    return position.opaque
