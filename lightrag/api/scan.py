"""Scans of the input folder: new files become documents, failed ones are tried again, finished ones are put away."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lightrag.contracts.doc_status import DocStatus
from lightrag.exceptions import FilterSyntaxError, LightRAGError, ScopeError
from lightrag.ingest.documents import new_track_id, normalize_source_path
from lightrag.query_filters import DocumentMetadata
from lightrag.query_filters.strict_model import read_json

if TYPE_CHECKING:
    from lightrag.api.background import Background
    from lightrag.api.files import FoundFile, InputFolder
    from lightrag.api.metrics import Metrics
    from lightrag.lightrag import LightRAG

logger = logging.getLogger("lightrag.api")

_REMEMBERED_SCANS = 100
_SAMPLE = 20
_LARGEST_SIDECAR = 1024 * 1024


@dataclass
class Scan:
    """One scan.

    Attributes:
        track_id: Names it.
        status: ``running``, ``completed`` or ``failed``.
        counts: Files by what became of them.
        samples: Some names of each kind.
        created_at: Epoch seconds.
        updated_at: Epoch seconds.
        version: Grows with every change.
        message: In words.
        fault: Why the last file that was not taken was not, ``""`` for none.
    """

    track_id: str
    status: str = "running"
    counts: dict[str, int] = field(default_factory=dict)
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    created_at: float = field(default_factory=time.time)
    updated_at: float = field(default_factory=time.time)
    version: int = 0
    message: str = "the input folder is being scanned"
    fault: str = ""

    def note(self, kind: str, name: str) -> None:
        """Count a file."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        sample = self.samples.setdefault(kind, {"items": [], "truncated": False, "dropped": 0})
        if len(sample["items"]) < _SAMPLE:
            sample["items"].append(name)
        else:
            sample["truncated"] = True
            sample["dropped"] += 1
        self._touch()

    def end(self, status: str, message: str) -> None:
        """Say how it ended."""
        self.status = status
        self.message = message
        self._touch()

    def _touch(self) -> None:
        self.updated_at = time.time()
        self.version += 1


class Scans:
    """Runs one scan at a time, and remembers the last ones."""

    def __init__(self, engine: LightRAG, inputs: InputFolder, background: Background, metrics: Metrics) -> None:
        """Take what is needed.

        Args:
            engine: Stores documents.
            inputs: The folder.
            background: Processes what was found.
            metrics: Counts it.
        """
        self._engine = engine
        self._inputs = inputs
        self._background = background
        self._metrics = metrics
        self._scans: OrderedDict[str, Scan] = OrderedDict()
        self._running: Scan | None = None

    @property
    def is_running(self) -> bool:
        """Whether a scan is going on."""
        return self._running is not None

    def get(self, track_id: str) -> Scan | None:
        """Return a scan; ``None`` for one that is forgotten or never was."""
        return self._scans.get(track_id)

    def begin(self) -> Scan | None:
        """Begin a scan in the background; ``None`` while another one or a deletion is going on."""
        if self.is_running or self._engine.pipeline_status()["destructive_busy"]:
            return None
        scan = self._running = Scan(new_track_id("scan"))
        self._scans[scan.track_id] = scan
        while len(self._scans) > _REMEMBERED_SCANS:
            self._scans.popitem(last=False)
        self._background.spawn(self._run(scan))
        return scan

    async def _run(self, scan: Scan) -> None:
        try:
            files = await asyncio.to_thread(lambda: list(self._inputs.files()))
            for file in files:
                await self._take(scan, file)
            await self._background.archive_finished()
            self._background.wake(retry_failed=True)
            told = f"{len(files)} files looked at, {scan.counts.get('claimed_new', 0)} new documents"
            scan.end("completed", f"{told}; {scan.fault}" if scan.fault else told)
        finally:
            self._running = None
            if scan.status == "running":
                scan.end("failed", "the scan broke off; the log says why")

    async def _take(self, scan: Scan, file: FoundFile) -> None:
        kind = "unsafe_source"
        if _is_text(file.name) and self._engine.context.parsers.reads(file.name):
            found = await self._engine.doc_status.get_doc_by_file_path(normalize_source_path(file.name))
            if found is None:
                kind = await self._claim(scan, file)
            else:
                kind = "processed" if found[1].status == DocStatus.PROCESSED else "resume_same_physical_source"
        scan.note(kind, _shown(file.name))

    async def _claim(self, scan: Scan, file: FoundFile) -> str:
        try:
            metadata = await asyncio.to_thread(described_by_sidecar, file)
            admitted = await self._engine.apipeline_enqueue_documents(
                [str(file.path)],
                file_paths=[file.name],
                track_id=scan.track_id,
                docs_format="pending_parse",
                from_scan=True,
                document_metadata=metadata,
            )
        except LightRAGError as error:
            logger.warning("file %r was not taken: %s", file.name, error)
            scan.fault = f"{_shown(file.name)}: {error}"
            return "metadata_invalid" if isinstance(error, FilterSyntaxError | ScopeError) else "failed"
        if admitted is None:
            return "alias_duplicate"
        self._metrics.accepted("scan")
        self._background.wake()
        return "claimed_new"


def _is_text(name: str) -> bool:
    """Tell whether the name of a file is text; bytes that are none stand in it as half surrogate pairs."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _instant(seconds: float) -> datetime | None:
    """Return a file's time; ``None`` where the calendar does not reach."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def described_by_sidecar(file: FoundFile) -> DocumentMetadata:
    """Return the metadata of a scanned file: what stands in ``NAME.meta.json``, then path and time of the file.

    Raises:
        FilterSyntaxError: The metadata file is not valid; the message names it.
    """
    metadata = DocumentMetadata()
    sidecar = file.sidecar
    # A name that is too long for the system to ask about has no such file either.
    if os.path.isfile(sidecar) and not sidecar.is_symlink():  # noqa: PTH113
        try:
            if sidecar.stat().st_size > _LARGEST_SIDECAR:
                raise FilterSyntaxError(f"it is larger than {_LARGEST_SIDECAR} bytes")
            metadata = DocumentMetadata.coerce(read_json(sidecar.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise FilterSyntaxError(f"metadata file {sidecar.name!r}: {error}") from error
    of_file = {
        "modified_at": _instant(file.modified_at),
        "source_path": normalize_source_path(file.name),
    }
    return metadata.model_copy(
        update={name: value for name, value in of_file.items() if getattr(metadata, name) is None}
    )
