"""Submitted documents: identity, source paths and the rows that are stored at first."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.exceptions import InputError
from lightrag.graph.manual import is_manual_document
from lightrag.ingest.options import ProcessOptions
from lightrag.parser.routing import Route
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.text import content_summary, sanitize_text

DOCS_FORMATS = ("raw", "pending_parse")


@dataclass(frozen=True)
class NewDocument:
    """A document as admitted.

    Attributes:
        doc_id: Given, or derived from the source path, or from the text.
        content: Sanitised text.
        file_path: Normalised relative source path, or ``unknown_source``.
        content_hash: MD5 of ``content``, hex.
        metadata: ``user_*`` keys and directives for the status row.
        options: How it is to be cut.
        source_file: File that is yet to be parsed; ``""`` when ``content`` is the text.
    """

    doc_id: str
    content: str
    file_path: str
    content_hash: str
    metadata: dict[str, Any] = field(default_factory=dict)
    options: ProcessOptions = field(default_factory=ProcessOptions)
    source_file: str = ""

    def full_doc(self) -> dict[str, Any]:
        """Return the row of the text store."""
        row: dict[str, Any] = {
            "content": self.content,
            "file_path": self.file_path,
            "parse_format": "pending_parse" if self.source_file else "raw",
            **self.options.to_row(),
        }
        if self.source_file:
            row["source_file"] = self.source_file
        else:
            row["content_hash"] = self.content_hash
        return row

    def status(self, track_id: str) -> DocProcessingStatus:
        """Return the first status row."""
        now = timestamp()
        notes = {"process_options": self.options.letters, "source_file": Path(self.source_file).name}
        return DocProcessingStatus(
            content_summary=content_summary(self.content),
            content_length=len(self.content),
            file_path=self.file_path,
            status=DocStatus.PENDING,
            created_at=now,
            updated_at=now,
            track_id=track_id,
            content_hash=self.content_hash or None,
            metadata={
                **self.metadata,
                **{name: value for name, value in notes.items() if value},
                "kg_write_state": "pre_graph",
            },
        )


def timestamp() -> str:
    """Return now, ISO-8601 UTC with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def new_track_id(prefix: str = "insert") -> str:
    """Return an id that names one enqueuing call: ``<prefix>_YYYYMMDD_HHMMSS_<8 hex>``."""
    return f"{prefix}_{datetime.now(UTC):%Y%m%d_%H%M%S}_{uuid4().hex[:8]}"


def normalize_source_path(raw: str | None) -> str:
    """Return the relative source path that identifies a document.

    Backslashes become slashes; drive, leading slashes, empty, ``.`` and ``..`` segments and control characters go;
    the text is NFC. ``a/x.md`` and ``b/x.md`` stay two documents. Nothing left means ``unknown_source``.
    """
    if not raw:
        return UNKNOWN_SOURCE
    text = unicodedata.normalize("NFC", sanitize_text(raw).replace("\\", "/").replace("\n", " ").replace("\t", " "))
    segments: list[str] = []
    for position, segment in enumerate(part.strip() for part in text.split("/")):
        if position == 0 and len(segment) == 2 and segment[1] == ":":
            continue
        if segment == "..":
            if segments:
                segments.pop()
        elif segment not in ("", "."):
            segments.append(segment)
    return "/".join(segments) or UNKNOWN_SOURCE


class ChoosesRoute(Protocol):
    """Chooses the parser of a file by its name, and takes hints off the name."""

    def __call__(self, file_name: str, wanted: str = "", /) -> Route:
        """Return the route, by the engine that the caller wants if that is given."""
        ...


@dataclass(frozen=True)
class Intake:
    """What the documents of one call have in common.

    Attributes:
        metadata: ``user_*`` keys of each of them; empty for none.
        options: How to process each of them; empty for the usual way.
        docs_format: ``raw`` for texts, ``pending_parse`` for files.
        route: Chooses the parser of a file.
    """

    metadata: Sequence[Mapping[str, Any]] = ()
    options: Sequence[ProcessOptions] = ()
    docs_format: str = "raw"
    route: ChoosesRoute | None = None

    def document(
        self,
        body: str,
        identity: str | None,
        raw_path: str | None,
        options: ProcessOptions,
        notes: Mapping[str, Any],
    ) -> NewDocument:
        """Give one submitted text or file its identity, and the metadata that came with it.

        Raises:
            InputError: It is no string, the file is not there, or the hint in its name cannot be used.
        """
        if not isinstance(body, str):
            raise InputError(f"a document must be text, not {type(body).__name__}")
        source_file = ""
        if self.docs_format == "pending_parse":
            # Without a path in its place, the source path is that of the file.
            source_file = _existing_file(body or raw_path or "")
            raw_path = raw_path if body else Path(source_file).name
        content = "" if source_file else sanitize_text(body)
        path = normalize_source_path(raw_path or Path(source_file).name)
        if source_file and self.route is not None:
            chosen = self.route(path, options.engine)
            path, options = chosen.name, options.routed(chosen)
        metadata = dict(notes)
        if path != UNKNOWN_SOURCE:
            # So that folders can be filtered by without anybody saying the path twice.
            metadata.setdefault("user_source_path", path)
        return NewDocument(
            doc_id=identity or compute_mdhash_id(content if path == UNKNOWN_SOURCE else path, prefix="doc-"),
            content=content,
            file_path=path,
            content_hash="" if source_file else compute_mdhash_id(content),
            metadata=metadata,
            options=options,
            source_file=source_file,
        )


def build_documents(
    texts: str | Sequence[str],
    *,
    ids: str | Sequence[str] | None = None,
    file_paths: str | Sequence[str] | None = None,
    intake: Intake | None = None,
) -> list[NewDocument]:
    """Give every submitted text or file its identity.

    Args:
        texts: One text or several; paths of files with ``docs_format="pending_parse"``, or empty where ``file_paths``
            are those.
        ids: As many ids, or ``None``.
        file_paths: As many source paths, or ``None``.
        intake: What they share.

    Raises:
        InputError: Numbers do not match, an id is empty, reserved or given twice, a text is not a string, a file is
            not there, or the format is unknown.
    """
    shared = intake or Intake()
    if shared.docs_format not in DOCS_FORMATS:
        raise InputError(f"docs_format is {shared.docs_format!r}; allowed are {', '.join(DOCS_FORMATS)}")
    bodies = [texts] if isinstance(texts, str) else list_of("the documents", texts)
    id_list = _matching("ids", ids, len(bodies))
    path_list = _matching("file_paths", file_paths, len(bodies))
    _check_ids([identity for identity in id_list if identity is not None])
    options = shared.options or [ProcessOptions()] * len(bodies)
    notes = shared.metadata or [{}] * len(bodies)
    return [shared.document(*given) for given in zip(bodies, id_list, path_list, options, notes, strict=True)]


def count_of(texts: object) -> int:
    """Return how many documents a call brings.

    Raises:
        InputError: They are neither a text nor a list.
    """
    return 1 if isinstance(texts, str) else len(list_of("the documents", texts))


def list_of(name: str, given: object) -> list[Any]:
    """Return what a caller gave for several documents as a list.

    Args:
        name: Names the argument in messages.
        given: A list, another sequence, or a view of a dictionary.

    Raises:
        InputError: It is something else, such as a generator, whose number of entries nobody knows beforehand.
    """
    # Views of a dictionary are welcome; what has no order, or is not meant as a list, is a mistake.
    is_mistake = isinstance(given, bytes | bytearray | memoryview | Mapping | set | frozenset)
    if not isinstance(given, Collection) or is_mistake:
        raise InputError(f"{name} must be given as a text or a list of texts, not {type(given).__name__}")
    return list(given)


def _check_ids(given: Sequence[str]) -> None:
    reserved = next((identity for identity in given if is_manual_document(identity)), None)
    if reserved is not None:
        raise InputError(f"ids holds {reserved!r}, which stands for what people say by hand; choose another id")
    if len(set(given)) != len(given):
        twice = next(identity for identity in given if given.count(identity) > 1)
        raise InputError(f"ids holds {twice!r} more than once; every document needs an id of its own")


def _existing_file(path: str) -> str:
    # Unlike its namesake of pathlib, this is also an answer for a name that the system refuses as too long.
    if not os.path.isfile(path):  # noqa: PTH113
        raise InputError(f"file {path!r} does not exist or is no file")
    resolved = os.path.realpath(path)
    if any("\ud800" <= character <= "\udfff" for character in resolved):
        raise InputError(f"file {path!r} has a name that is not UTF-8, which cannot be stored; rename it")
    return resolved


def _matching(name: str, given: str | Sequence[str] | None, count: int) -> list[str | None]:
    if given is None:
        return [None] * count
    values: list[str | None] = [given] if isinstance(given, str) else list_of(name, given)
    if len(values) != count:
        raise InputError(f"{name} has {len(values)} entries for {count} documents; give one for each")
    for value in values:
        if name == "ids" and (not isinstance(value, str) or not value.strip() or value != sanitize_text(value)):
            raise InputError(f"ids holds {value!r}; an id is text without control characters or outer white space")
    return values
