"""Work that goes on after a response: processing documents, deletions, and how it ends with the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from lightrag.contracts.doc_status import INTERRUPTED_STATES, DocStatus
from lightrag.ingest.documents import normalize_source_path
from lightrag.runtime.hashing import compute_mdhash_id

if TYPE_CHECKING:
    from lightrag.api.files import FoundFile, InputFolder
    from lightrag.lightrag import LightRAG

logger = logging.getLogger("lightrag.api")

WAITING_STATES = (DocStatus.PENDING, *INTERRUPTED_STATES)
_AGAIN_SECONDS = 1.0
_RETRY_SECONDS = 30.0


class Background:
    """Processes documents whenever there are new ones, and keeps hold of other tasks until they end."""

    def __init__(self, engine: LightRAG, inputs: InputFolder) -> None:
        """Take what is worked on.

        Args:
            engine: Processes documents.
            inputs: Finished files are put away in it.
        """
        self._engine = engine
        self._inputs = inputs
        self._wanted = asyncio.Event()
        self._retry_failed = False
        self._loop_task: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._working = False

    @property
    def is_working(self) -> bool:
        """Whether something is being processed."""
        return self._working or bool(self._tasks)

    def start(self) -> None:
        """Begin; what an earlier life of the server left pending is processed first."""
        self._wanted.set()
        self._loop_task = asyncio.create_task(self._run())

    def wake(self, *, retry_failed: bool = False) -> None:
        """Let pending documents be processed.

        Args:
            retry_failed: Try those that failed once more.
        """
        self._retry_failed = self._retry_failed or retry_failed
        self._wanted.set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something in the background; an error in it is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("work in the background failed", exc_info=task.exception())

    async def stop(self, seconds: float) -> None:
        """Let what is in work come to its end, so long; then cancel it.

        A document that is cancelled is taken up again when the server next starts.
        """
        loop_task, self._loop_task = self._loop_task, None
        running = [*self._tasks]
        if loop_task is not None and self._working:
            running.append(asyncio.create_task(self._until_idle()))
        if running:
            await asyncio.wait(running, timeout=seconds)
        ending = [task for task in (loop_task, *running, *self._tasks) if task is not None]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    async def _until_idle(self) -> None:
        while self._working:  # noqa: ASYNC110 - only while the server stops
            await asyncio.sleep(0.05)

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._working = True
            try:
                await self._process()
            except Exception:
                # The scheduler's boundary: documents that cannot be processed now must not end the processing for
                # ever. They are pending still, and looked at again.
                logger.exception("processing of documents broke off; tried again in %.0f s", _RETRY_SECONDS)
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._wanted.set)
            finally:
                self._working = False

    async def _process(self) -> None:
        # A run without documents would only replace the log of the last one, and look busy.
        retry_failed, self._retry_failed = self._retry_failed, False
        if retry_failed and (await self._engine.get_processing_status()).get(DocStatus.FAILED.value):
            await self._engine.aretry_failed_documents()
        elif await self._is_anything_waiting():
            await self._engine.apipeline_process_enqueue_documents()
        await self.archive_finished()
        if await self._is_anything_waiting():
            # Something else held the pipeline, a deletion for example.
            asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self._wanted.set)

    async def _is_anything_waiting(self) -> bool:
        counts = await self._engine.get_processing_status()
        return any(counts.get(state.value) for state in WAITING_STATES)

    async def archive_finished(self) -> int:
        """Put away the files of documents that are processed, and of those that repeat another one.

        Returns:
            How many were put away.
        """
        files = await asyncio.to_thread(lambda: list(self._inputs.files()))
        count = 0
        for file in files:
            if await self._is_finished(file):
                try:
                    await asyncio.to_thread(self._inputs.archive, file)
                except OSError as error:
                    logger.warning("file %r stays where it is, it cannot be put away: %s", file.name, error)
                else:
                    count += 1
        return count

    async def _is_finished(self, file: FoundFile) -> bool:
        path = normalize_source_path(file.name)
        found = await self._engine.doc_status.get_doc_by_file_path(path)
        if found is not None:
            return bool(found[1].status == DocStatus.PROCESSED)
        # What parsing showed to be a repetition has a row of its own id, and stands for no document.
        rows = await self._engine.aget_docs_by_ids(compute_mdhash_id(path, prefix="doc-"))
        return any(row.metadata.get("is_duplicate") for row in rows.values())
