"""The pipeline: every pending document through the steps below, many at a time.

A document goes alone through ``DOCUMENT_STEPS``; then it waits until the graph is free and is merged together with
those that wait beside it, which is when all of it becomes visible. One document that fails never stops another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import INTERRUPTED_STATES, DocProcessingStatus, DocStatus
from lightrag.exceptions import LightRAGError, PipelineBusyError, PipelineCancelledError
from lightrag.ingest.announce import announce_documents, announce_merge, announce_pipeline
from lightrag.ingest.chunk import chunk_document
from lightrag.ingest.documents import timestamp
from lightrag.ingest.error_documents import ERROR_TYPE
from lightrag.ingest.extract import extract_document
from lightrag.ingest.parse import parse_document
from lightrag.ingest.persist import fail, merge_and_persist
from lightrag.ingest.state import PipelineState
from lightrag.ingest.status_metadata import doc_status_reset_metadata
from lightrag.ingest.work import DocumentWork
from lightrag.runtime.subjects import subject_logger, working_on
from lightrag.runtime.text import content_summary

logger = subject_logger("lightrag.ingest")

DocumentStep = Callable[[EngineContext, DocumentWork], Awaitable[None]]

# name            what it does                                                           how many at a time
PARSE = "parse"
DOCUMENT_STEPS: tuple[tuple[str, DocumentStep], ...] = (
    (PARSE, parse_document),  # stored row or file -> text                             max_parallel_insert
    ("chunk", chunk_document),  # text -> chunks with token counts and embeddings        max_parallel_insert
    ("extract", extract_document),  # chunks -> evidence, by the model                   max_parallel_insert
)
GROUP_STEP = merge_and_persist  # evidence -> graph, vectors, status, in one unit of work; one group at a time

# How long a finished document waits for company while others are still being extracted, seconds. Hub entities are
# then read, embedded and written once for all of them.
_LINGER = 0.25
# A loop holds tasks by weak references only.
_continued: set[asyncio.Task[None]] = set()
_POLL = 0.2


async def process_queue(context: EngineContext, state: PipelineState) -> None:
    """Process every pending document, and those an earlier run left unfinished.

    A second call while a run is going on only tells that run to look again, and returns.

    Raises:
        StorageError: The stores cannot even record a failure; what was not processed stays pending.
    """
    if not state.begin_or_join("processing documents"):
        if state.run_context is not context:
            state.heir = (context, asyncio.get_running_loop())
        return
    task = asyncio.create_task(_drive(context, state))
    state.run_task, state.run_context = task, context
    task.add_done_callback(lambda done: _give_back(state, done))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        if task.cancelled() and not _is_cancelled():
            raise PipelineCancelledError(
                "the engine was closed while documents were processed; they are taken up again when it is opened"
            ) from None
        if not state.others_rely:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        raise


@asynccontextmanager
async def holding(
    context: EngineContext, state: PipelineState, job_name: str, *, destructive: bool = False, alone: bool = False
) -> AsyncIterator[None]:
    """Hold the pipeline for another job than a run, also against other processes.

    Args:
        context: The workspace.
        state: Its pipeline.
        job_name: What for, in words.
        destructive: Something is going to be deleted.
        alone: No documents may be on their way.

    Raises:
        PipelineBusyError: Somebody else has it.
    """
    state.begin(job_name, destructive=destructive, alone=alone)
    try:
        # In this process only a short change of metadata can have it now.
        if not await state.run_lock.acquire_here():
            raise PipelineBusyError("the pipeline is busy in another process; try again when it has finished")
        try:
            yield
        finally:
            await state.run_lock.release()
    finally:
        await end_job(context, state)


async def end_job(context: EngineContext, state: PipelineState) -> None:
    """Give the pipeline back after another job than a run.

    Documents that came in meanwhile are processed: whoever brought them was told that somebody is at work.
    """
    state.end()
    if state.request_pending:
        await process_queue(context, state)


def _is_cancelled() -> bool:
    """Tell whether the task that runs now was asked to stop."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0


async def stop_run(context: EngineContext, state: PipelineState) -> None:
    """Stop the run that works on a workspace that is about to be closed; its documents are taken up again later.

    Where another engine of this process has the same workspace open and relies on the run, it goes on there at once.
    """
    if state.heir is not None and state.heir[0] is context:
        state.heir = None
    task = state.run_task
    if task is None or task.done() or state.run_context is not context:
        return
    if task.get_loop() is asyncio.get_running_loop():
        heir = state.heir
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if heir is not None:
            _continue(state, *heir)


def _continue(state: PipelineState, context: EngineContext, loop: asyncio.AbstractEventLoop) -> None:
    """Go on with the documents of a run that was stopped, on another opened workspace."""

    def start() -> None:
        task = loop.create_task(process_queue(context, state))
        _continued.add(task)
        task.add_done_callback(ended)

    def ended(task: asyncio.Task[None]) -> None:
        _continued.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("processing of documents broke off", exc_info=task.exception())

    # Its loop may have ended; the documents are then taken up by the next call.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(start)


def _give_back(state: PipelineState, task: asyncio.Task[None]) -> None:
    """Give the pipeline back for a run that was stopped before its first step, and so could not do it itself."""
    if state.run_task is task:
        state.end()
        state.run_task = state.run_context = None


async def _drive(context: EngineContext, state: PipelineState) -> None:
    announce_pipeline(context, state)
    try:
        async with state.run_lock:
            await _reset_interrupted(context)
            while True:
                await _Run(context, state).run()
                if not state.looks_again():
                    break
    finally:
        state.end()
        state.run_task = state.run_context = None
        announce_pipeline(context, state)


async def _reset_interrupted(context: EngineContext) -> None:
    """Put documents that a crash left in the middle back to pending."""
    doc_status = context.stores.doc_status
    rows = await doc_status.get_docs_by_statuses(INTERRUPTED_STATES)
    if rows:
        await doc_status.upsert({doc_id: pending_again(row).to_row() for doc_id, row in rows.items()})
        announce_documents(context, rows, DocStatus.PENDING)


def pending_again(row: DocProcessingStatus) -> DocProcessingStatus:
    """Return the row of a document that shall be processed once more, keeping what people gave it."""
    metadata = doc_status_reset_metadata({"metadata": row.metadata})
    changes = {
        "status": DocStatus.PENDING,
        "updated_at": timestamp(),
        "error_msg": None,
        "metadata": metadata,
    }
    return DocProcessingStatus(**{**row.__dict__, **changes})


class _Run:
    """One pass over the pending documents."""

    def __init__(self, context: EngineContext, state: PipelineState) -> None:
        self.context = context
        self.state = state
        settings = context.settings
        self.parallel = settings.max_parallel_insert
        self.waiting: asyncio.Queue[DocumentWork | None] = asyncio.Queue(maxsize=self.parallel)
        self.extracted: asyncio.Queue[DocumentWork | None] = asyncio.Queue(maxsize=settings.queue_size_insert)
        self.in_extraction = 0
        self.unfinished: dict[str, DocumentWork] = {}

    async def run(self) -> None:
        tasks = [asyncio.create_task(self._feed()), asyncio.create_task(self._merge())]
        workers = [asyncio.create_task(self._work()) for _ in range(self.parallel)]
        watcher = asyncio.create_task(self._watch([*tasks, *workers]))
        try:
            await asyncio.gather(*workers, tasks[0])
            await self.extracted.put(None)
            await tasks[1]
        except asyncio.CancelledError:
            if not self.state.cancellation_requested:
                raise
            await self._settle([*tasks, *workers])
            await self._fail_cancelled()
        finally:
            watcher.cancel()
            await self._settle([watcher, *tasks, *workers])

    @staticmethod
    async def _settle(tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        # A flag and not an event: it may be set from another thread or loop.
        while not self.state.cancellation_requested:  # noqa: ASYNC110
            await asyncio.sleep(_POLL)
        for task in tasks:
            task.cancel()

    async def _feed(self) -> None:
        """Hand out pending documents, oldest first, until there are none; then tell every worker."""
        after: tuple[str, str] | None = None
        page_size = self.context.settings.pipeline_scheduling_page_size
        while True:
            page = await self.context.stores.doc_status.get_docs_by_statuses_page(
                [DocStatus.PENDING], limit=page_size, after=after
            )
            self.state.docs += len(page)
            self.state.batchs = self.state.docs
            announce_pipeline(self.context, self.state)
            for doc_id, row in page:
                after = (row.created_at, doc_id)
                await self.waiting.put(DocumentWork(doc_id, row))
            if len(page) < page_size:
                break
        for _ in range(self.parallel):
            await self.waiting.put(None)

    async def _work(self) -> None:
        while (work := await self.waiting.get()) is not None:
            self.unfinished[work.doc_id] = work
            self.in_extraction += 1
            try:
                with working_on(work.doc_id, work.row.track_id):
                    done = await self._prepare(work)
            finally:
                self.in_extraction -= 1
            if done:
                await self.extracted.put(work)

    async def _prepare(self, work: DocumentWork) -> bool:
        """Run the steps of one document; a failure ends in its status row."""
        work.notes["process_start_time"] = int(time.time())
        for name, step in DOCUMENT_STEPS:
            try:
                await step(self.context, work)
            except PipelineCancelledError:
                # The engine is closing: the document stays where it is and is taken up again.
                return False
            except Exception as error:  # noqa: BLE001 - the scheduler's boundary: a document never stops the others
                await self._failed(work, name, error)
                return False
        return True

    async def _failed(self, work: DocumentWork, step: str, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        ids = {"document_id": work.doc_id, "track_id": work.row.track_id}
        if not isinstance(error, LightRAGError):
            reason = f"{type(error).__name__}: {reason}"
            logger.warning("document %s failed in step %s", work.doc_id, step, exc_info=error, extra=ids)
        else:
            logger.warning("document %s failed in step %s: %s", work.doc_id, step, reason, extra=ids)
        if step == PARSE and work.full_doc.get("parse_format") == "pending_parse" and "is_duplicate" not in work.notes:
            work.notes |= {"error_type": ERROR_TYPE, "error_stage": "parse"}
            if not work.row.content_summary:
                work.row.content_summary = content_summary(f"[File Extraction] {reason}")
        await fail(self.context, work, reason)
        self._finished(work, f"failed in step {step}: {reason}")

    def _finished(self, work: DocumentWork, outcome: str) -> None:
        self.unfinished.pop(work.doc_id, None)
        self.state.cur_batch += 1
        self.state.say(f"{work.row.file_path} ({work.doc_id}): {outcome}")
        announce_pipeline(self.context, self.state)

    async def _merge(self) -> None:
        """Merge what has been extracted, as many documents at once as have come together."""
        ended = False
        while not ended:
            first = await self.extracted.get()
            if first is None:
                return
            group, ended = await self._gather_group(first)
            await self._merge_group(group)

    async def _gather_group(self, first: DocumentWork) -> tuple[list[DocumentWork], bool]:
        group = [first]
        deadline = time.monotonic() + _LINGER
        while len(group) < self.context.settings.queue_size_insert:
            if self.extracted.empty() and self.in_extraction == 0 and self.waiting.empty():
                break
            try:
                async with asyncio.timeout(max(deadline - time.monotonic(), 0.0)):
                    following = await self.extracted.get()
            except TimeoutError:
                break
            if following is None:
                return group, True
            group.append(following)
        return group, False

    async def _merge_group(self, group: Sequence[DocumentWork]) -> None:
        for work in group:
            work.notes["process_end_time"] = int(time.time())
            work.notes["kg_write_state"] = "graph_mutation_started"
        try:
            started = time.monotonic()
            await GROUP_STEP(self.context, group)
            announce_merge(self.context, group, started)
        except Exception as error:  # noqa: BLE001 - the scheduler's boundary: a document never stops the others
            if len(group) == 1:
                await self._failed(group[0], "merge", error)
                return
            # One of them is the cause; alone each shows whether it is the one.
            for work in group:
                await self._merge_group([work])
            return
        for work in group:
            self._finished(work, f"processed, {len(work.chunks)} chunks")

    async def _fail_cancelled(self) -> None:
        """Mark everything that the run had not finished, and tell why."""
        reason = str(PipelineCancelledError("User cancelled the pipeline before the document was processed"))
        doc_status = self.context.stores.doc_status
        works = list(self.unfinished.values())
        # A commit that was on its way when the run was stopped has been made: those documents are processed.
        rows = await doc_status.get_by_ids([work.doc_id for work in works])
        for work, row in zip(works, rows, strict=True):
            if row is not None and row.get("status") != DocStatus.PROCESSED:
                await fail(self.context, work, reason)
        while page := await doc_status.get_docs_by_statuses_page([DocStatus.PENDING], limit=500):
            now = timestamp()
            changes = {"status": DocStatus.FAILED.value, "error_msg": reason, "updated_at": now}
            await doc_status.update_doc_status_fields({doc_id: changes for doc_id, _ in page})
            announce_documents(self.context, dict(page), DocStatus.FAILED, reason)
        self.state.request_pending = False
        self.state.say("cancelled by the user")
