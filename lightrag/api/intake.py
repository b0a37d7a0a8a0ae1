"""The way in for texts and uploaded files: checked, stored durably, and only then acknowledged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lightrag.api.background import WAITING_STATES
from lightrag.api.errors import ApiError, status_and_code
from lightrag.api.files import InputFolder, safe_path
from lightrag.constants import UNKNOWN_SOURCE
from lightrag.exceptions import DuplicateError, InputError, LightRAGError
from lightrag.ingest.documents import new_track_id, normalize_source_path
from lightrag.query_filters import DocumentMetadata

if TYPE_CHECKING:
    from lightrag.api.background import Background
    from lightrag.api.metrics import Metrics
    from lightrag.api.policies import Policy
    from lightrag.engine.restricted import RestrictedEngine
    from lightrag.lightrag import LightRAG
    from lightrag.settings_api import ApiSettings

RETRY_AFTER_SECONDS = 30


class IncomingFile(Protocol):
    """A file of a multipart request."""

    filename: str | None

    async def read(self, size: int = -1) -> bytes:
        """Return up to so many bytes, none at the end."""
        ...


@dataclass(frozen=True)
class Texts:
    """Texts as a request brings them.

    Attributes:
        bodies: The texts.
        sources: As many paths; ``None`` when none was sent.
        metadata: Shared by all.
        chunking: Strategy and parameters, or ``None``.
    """

    bodies: Sequence[str]
    sources: Sequence[str] | None = None
    metadata: DocumentMetadata | None = None
    chunking: dict[str, Any] | None = None


@dataclass(frozen=True)
class FileOutcome:
    """What became of a file.

    Attributes:
        sent_name: Name as sent.
        name: Name under which it is stored, ``""`` when refused.
        error: Why it was refused.
    """

    sent_name: str
    name: str
    error: ApiError | LightRAGError | None = None

    @property
    def code(self) -> str | None:
        """Code of the error."""
        if self.error is None:
            return None
        return self.error.code if isinstance(self.error, ApiError) else status_and_code(self.error)[1]

    @property
    def reason(self) -> str:
        """Why it was refused, in words."""
        return str(self.error.detail if isinstance(self.error, ApiError) else self.error)


class Intake:
    """Stores documents and lets them be processed."""

    def __init__(
        self, engine: LightRAG, settings: ApiSettings, inputs: InputFolder, background: Background, metrics: Metrics
    ) -> None:
        """Take what is needed.

        Args:
            engine: Stores documents.
            settings: Limits.
            inputs: Folder of files.
            background: Processes them.
            metrics: Counts them.
        """
        self._engine: LightRAG | RestrictedEngine = engine
        self._whole_engine = engine
        self._policy: Policy | None = None
        self._settings = settings
        self._inputs = inputs
        self._background = background
        self._metrics = metrics

    @property
    def storing(self) -> int:
        """Documents that are being stored now."""
        return int(self._whole_engine.pipeline_status()["pending_enqueues"])

    def seen_by(self, engine: RestrictedEngine, policy: Policy | None) -> Intake:
        """Return the way in for somebody whose access is limited; limits of the whole are shared."""
        own = copy(self)
        own._engine, own._policy = engine, policy  # noqa: SLF001 - a copy of its own class
        return own

    @asynccontextmanager
    async def admission(self, count: int = 1) -> AsyncIterator[str]:
        """Hold while documents are stored.

        Args:
            count: How many they are.

        Yields:
            The token to enqueue them with.

        Raises:
            ApiError: Too many documents wait (429).
            PipelineBusyError: Documents are being deleted.
        """
        most = self._settings.max_pending_documents
        if most:
            counts = await self._whole_engine.get_processing_status()
            waiting = sum(counts.get(state.value, 0) for state in WAITING_STATES) + self.storing
            if waiting + count > most:
                many = "too many" if self._policy is not None else str(waiting)
                raise ApiError(
                    429,
                    f"{many} documents wait to be processed; allowed are {most}",
                    "queue_full",
                    {"Retry-After": str(RETRY_AFTER_SECONDS)},
                )
        token = await self._engine.areserve_admission(count)
        try:
            yield token
        finally:
            self._engine.release_admission(token)

    async def add_texts(self, texts: Texts) -> str:
        """Store texts.

        Returns:
            The track id.

        Raises:
            InputError: Paths are missing, or do not fit the texts.
            DuplicateError: A path is taken; nothing was stored.
            ApiError: Too many texts in one request (413), or too many documents wait (429).
        """
        most = self._settings.max_texts_per_request
        if most and len(texts.bodies) > most:
            raise ApiError(413, f"the request has {len(texts.bodies)} texts; allowed are {most}", "too_many_texts")
        paths = [self._placed(path) for path in _checked_sources(texts)]
        async with self.admission(len(paths)) as token:
            for path in paths:
                if path != UNKNOWN_SOURCE:
                    await self._refuse_known(path)
            track_id = new_track_id("insert")
            admitted = await self._engine.apipeline_enqueue_documents(
                list(texts.bodies),
                file_paths=paths,
                track_id=track_id,
                chunk_options=texts.chunking,
                admission_token=token,
                document_metadata=self._described(texts.metadata),
            )
        if admitted is None:
            raise DuplicateError(
                f"the same text is already stored; GET /documents/track_status/{track_id} tells under which name"
            )
        self._metrics.accepted("text", len(paths))
        self._background.wake()
        return track_id

    async def add_file(self, file: IncomingFile, metadata: DocumentMetadata | None, track_id: str) -> FileOutcome:
        """Store an uploaded file, or say why not."""
        sent_name = file.filename or ""
        try:
            name = await self._add_file(file, metadata, track_id)
        except (ApiError, LightRAGError) as error:
            outcome = FileOutcome(sent_name, "", error)
            self._metrics.refused.labels(outcome.code or "error").inc()
            return outcome
        self._metrics.accepted("upload")
        self._background.wake()
        return FileOutcome(sent_name, name)

    async def _add_file(self, file: IncomingFile, metadata: DocumentMetadata | None, track_id: str) -> str:
        name = self._placed(safe_path(file.filename or ""))
        parsers = self._whole_engine.context.parsers
        if not parsers.reads(name):
            supported = ", ".join(parsers.supported_extensions())
            raise InputError(f"file {name!r} is of a type that cannot be read; supported are {supported}")
        async with self.admission() as token:
            await self._refuse_known(normalize_source_path(name))
            with self._inputs.arriving(name):
                path = await self._inputs.store(name, file.read, self._settings.max_upload_size)
                try:
                    admitted = await self._enqueue_file(path, name, metadata, track_id, token)
                    if admitted is None:
                        raise DuplicateError(f"a document {name!r} is already stored")
                except BaseException:
                    path.unlink(missing_ok=True)
                    raise
        return name

    async def _enqueue_file(
        self, path: Path, name: str, metadata: DocumentMetadata | None, track_id: str, token: str
    ) -> str | None:
        """Store a document whose text is still in a file.

        Args:
            path: Where the file is.
            name: Its source path.
            metadata: Of the document; the source path is added.
            track_id: Names the request.
            token: Of its admission.

        Returns:
            The track id, ``None`` when the document was refused as a repetition.
        """
        described = self._described(metadata) or DocumentMetadata()
        if described.source_path is None:
            described = described.model_copy(update={"source_path": normalize_source_path(name)})
        return await self._engine.apipeline_enqueue_documents(
            [str(path)],
            file_paths=[name],
            track_id=track_id,
            docs_format="pending_parse",
            admission_token=token,
            document_metadata=described,
        )

    def _described(self, metadata: DocumentMetadata | None) -> DocumentMetadata | None:
        """Give a document of somebody with limited access the tags without which they could not see it."""
        if self._policy is None or (metadata is not None and metadata.tags):
            return metadata
        return (metadata or DocumentMetadata()).model_copy(update={"tags": list(self._policy.required_tags)})

    def _placed(self, path: str) -> str:
        """Return a path below the folder of the caller, if they have one."""
        own = self._policy.folder if self._policy is not None else ""
        return path if not own or path == UNKNOWN_SOURCE else safe_path(f"{own}/{path}")

    async def _refuse_known(self, path: str) -> None:
        found = await self._whole_engine.doc_status.get_doc_by_file_path(path)
        if found is not None:
            if self._policy is not None:
                # It may be a document that does not exist for the caller.
                raise DuplicateError(f"the name {path!r} is taken; send another one")
            raise DuplicateError(
                f"a document {path!r} is already stored as {found[0]!r} (status {found[1].status.value}); "
                "delete it first, or send another name"
            )


def _checked_sources(texts: Texts) -> list[str]:
    if texts.sources is None:
        # Without a path a document is known by its text alone, and references cannot name it.
        return [UNKNOWN_SOURCE] * len(texts.bodies)
    if len(texts.sources) != len(texts.bodies):
        raise InputError(
            f"{len(texts.sources)} file sources for {len(texts.bodies)} texts; send one for each, such as 'notes/1.md'"
        )
    paths = [normalize_source_path(source) for source in texts.sources]
    for source, path in zip(texts.sources, paths, strict=True):
        if path == UNKNOWN_SOURCE:
            raise InputError(f"file source {source!r} cannot be used; send a path such as 'notes/1.md'")
        if paths.count(path) > 1:
            raise InputError(f"file source {path!r} stands for more than one text; each needs its own")
    return paths
