"""What is going on in a workspace right now: who holds the pipeline, how far it is, whether it shall stop.

Two engines on the same working directory and workspace in one process share one state, and nothing else does.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

from lightrag.contracts.storage import SharedLock
from lightrag.exceptions import PipelineBusyError
from lightrag.kg.shared_storage import publish_pipeline
from lightrag.runtime.locks import WorkspaceLock

HISTORY_LINES = 5000


@dataclass(eq=False)
class PipelineState:
    """Progress and control of one workspace's pipeline.

    Attributes:
        busy: A run is going on.
        destructive_busy: A clear or delete is going on.
        job_name: What runs, in words.
        job_start: When it began, ISO-8601 UTC; ``None`` before the first run.
        docs: Documents known to the run.
        batchs: Documents of the run; named as in the compatibility contract.
        cur_batch: Documents finished.
        request_pending: Somebody enqueued during the run, so it looks again before it ends.
        cancellation_requested: The run shall stop.
        cancellation_reason: Why, in words.
        latest_message: Last line of the log.
        history: Last lines of the log.
        admissions: Numbers of documents that are on their way into the stores, by the token of who brings them.
        others_rely: Somebody else's documents are in the run, so it outlives the call that began it.
        run_task: The run, while one is going on.
        run_context: The opened workspace it works on.
        heir: Another opened workspace that relies on the run, and its loop; it goes on when the first is closed.
        graph_lock: One writer of the graph at a time, whatever process it is in.
        enqueue_lock: One admission of documents at a time, so that duplicates are seen. Whoever else writes status rows
            that it has read holds it too, and takes it before the graph's.
        run_lock: One process at a time runs the pipeline, or deletes or changes what a run would write again.
    """

    busy: bool = False
    destructive_busy: bool = False
    job_name: str = "-"
    job_start: str | None = None
    docs: int = 0
    batchs: int = 0
    cur_batch: int = 0
    request_pending: bool = False
    cancellation_requested: bool = False
    cancellation_reason: str | None = None
    latest_message: str = ""
    history: deque[str] = field(default_factory=lambda: deque(maxlen=HISTORY_LINES))
    admissions: dict[str, int] = field(default_factory=dict)
    others_rely: bool = False
    run_task: asyncio.Task[None] | None = field(default=None, repr=False)
    run_context: object = field(default=None, repr=False)
    heir: tuple[Any, asyncio.AbstractEventLoop] | None = field(default=None, repr=False)
    graph_lock: WorkspaceLock = field(default_factory=WorkspaceLock)
    enqueue_lock: WorkspaceLock = field(default_factory=WorkspaceLock)
    run_lock: WorkspaceLock = field(default_factory=WorkspaceLock)
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def share_locks(self, lock_of: Callable[[str], SharedLock | None]) -> None:
        """Let the locks hold wherever the workspace is open.

        Args:
            lock_of: ``workspace_lock`` of its store of document status.
        """
        for name, lock in (("graph", self.graph_lock), ("enqueue", self.enqueue_lock), ("pipeline", self.run_lock)):
            lock.share(partial(lock_of, name))

    def say(self, message: str) -> None:
        """Add a line to the log."""
        self.latest_message = message
        self.history.append(message)

    @property
    def arriving(self) -> int:
        """Documents that are on their way into the stores."""
        with self._guard:
            return sum(self.admissions.values())

    def admit(self, documents: int) -> str:
        """Announce documents that will be enqueued, so that nobody clears the workspace meanwhile.

        Returns:
            A token for :func:`~lightrag.ingest.enqueue.enqueue`, to be released in any case.

        Raises:
            PipelineBusyError: Documents are being deleted.
        """
        with self._guard:
            if self.destructive_busy:
                raise PipelineBusyError(f"documents are being deleted ({self.job_name}); try again when that has ended")
            token = uuid4().hex
            self.admissions[token] = documents
            return token

    def release(self, token: str) -> None:
        """Give an announcement back; one that is not known is passed over."""
        with self._guard:
            self.admissions.pop(token, None)

    def begin(self, job_name: str, *, destructive: bool = False, alone: bool = False) -> None:
        """Take the pipeline.

        Args:
            job_name: What for, in words.
            destructive: Something is going to be deleted.
            alone: No documents may be on their way.

        Raises:
            PipelineBusyError: Somebody else has it.
        """
        with self._guard:
            if self.busy:
                raise PipelineBusyError(f"the pipeline is busy: {self.job_name}")
            if alone and self.admissions:
                raise PipelineBusyError("documents are being stored; try again when that has ended")
            self._begin(job_name)
            self.destructive_busy = destructive

    def refuse_while_busy(self, what: str) -> None:
        """Refuse a change that a run would not see.

        Args:
            what: What to do when the run has finished, in words.

        Raises:
            PipelineBusyError: The pipeline is running.
        """
        if self.busy:
            raise PipelineBusyError(f"the pipeline is busy ({self.job_name}); {what} when it has finished")

    @asynccontextmanager
    async def other_processes_kept_out(self) -> AsyncIterator[None]:
        """Keep other processes from running the pipeline.

        Raises:
            PipelineBusyError: One of them, or a run of this one, is at work; nobody knows how long, so the caller is
                not kept waiting.
        """
        if not await self.run_lock.try_acquire():
            raise PipelineBusyError("the pipeline is busy, in this process or another; try again when it has finished")
        try:
            yield
        finally:
            await self.run_lock.release()

    def begin_or_join(self, job_name: str) -> bool:
        """Take the pipeline, or tell the run that has it to look again.

        Returns:
            Whether it was taken.
        """
        with self._guard:
            if self.busy:
                self.request_pending = self.others_rely = True
                return False
            self._begin(job_name)
            return True

    def looks_again(self) -> bool:
        """Tell whether somebody has asked the run to look again; if nobody has, the pipeline is given back."""
        with self._guard:
            if self.request_pending:
                self.request_pending = False
                return True
            self.end()
            return False

    def _begin(self, job_name: str) -> None:
        self.busy = True
        self.others_rely = False
        self.heir = None
        self.job_name = job_name
        self.job_start = datetime.now(UTC).isoformat()
        self.docs = self.batchs = self.cur_batch = 0
        self.cancellation_requested = False
        self.cancellation_reason = None
        self.request_pending = False
        self.history.clear()
        self.say(job_name)

    def end(self) -> None:
        """Give the pipeline back."""
        self.busy = False
        self.destructive_busy = False
        self.cancellation_requested = False
        self.cancellation_reason = None

    def snapshot(self) -> dict[str, Any]:
        """Return the fields that clients know."""
        return {
            "busy": self.busy,
            "destructive_busy": self.destructive_busy,
            "job_name": self.job_name,
            "job_start": self.job_start,
            "docs": self.docs,
            "batchs": self.batchs,
            "cur_batch": self.cur_batch,
            "request_pending": self.request_pending,
            "cancellation_requested": self.cancellation_requested,
            "cancellation_reason": self.cancellation_reason,
            "latest_message": self.latest_message,
            "history_messages": list(self.history),
            "pending_enqueues": self.arriving,
        }


_states: WeakValueDictionary[tuple[str, str], PipelineState] = WeakValueDictionary()
# Two threads that open a workspace at once must not each get a state of their own.
_states_guard = threading.Lock()


def pipeline_state(working_dir: str, workspace: str) -> PipelineState:
    """Return the state of a workspace, shared by all its engines in this process."""
    key = (str(Path(working_dir).resolve()), workspace)
    with _states_guard:
        state = _states.get(key)
        if state is None:
            root = Path(key[0]) / workspace
            state = PipelineState(
                graph_lock=WorkspaceLock(root / "lightrag.graph.lock"),
                enqueue_lock=WorkspaceLock(root / "lightrag.enqueue.lock"),
                run_lock=WorkspaceLock(root / "lightrag.pipeline.lock"),
            )
            _states[key] = state
            publish_pipeline(*key, state)
        return state
