"""Parsing without harm: plain text in a thread, everything else in a few processes with limits."""

from __future__ import annotations

import asyncio
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from lightrag.exceptions import InputError, PipelineCancelledError
from lightrag.parser.limits import ParseLimits
from lightrag.parser.process import ParseRequest, ParserProcess
from lightrag.parser.registry import is_light, parse_content
from lightrag.parser.result import FileContent, ParsedText
from lightrag.parser.sniff import HEAD_BYTES

# A fresh process now and then gives back what libraries never free.
_FILES_PER_PROCESS = 200
_CANCELLED = "parsing was cancelled, or the engine is closed"


@dataclass
class _Idle:
    """The processes that wait for work, with how many files each has parsed; shared with the pool's finalizer."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    processes: list[tuple[ParserProcess, int]] = field(default_factory=list)
    closed: bool = False


class _Job:
    """A file being parsed, so that its process can be killed from outside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: ParserProcess | None = None
        self._cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether the process was killed, or must not begin."""
        return self._cancelled

    def begin(self, process: ParserProcess) -> None:
        """Note which process does the work.

        Raises:
            PipelineCancelledError: The job was cancelled before it began.
        """
        with self._lock:
            if self._cancelled:
                raise PipelineCancelledError(_CANCELLED)
            self._process = process

    def end(self) -> None:
        """Forget the process; after this nobody kills it."""
        with self._lock:
            self._process = None

    def cancel(self) -> None:
        """Kill the process, or see that the job never begins."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.interrupt()


class ParserPool:
    """Parses files for one engine.

    Processes are started when they are first needed, kept for the next file, replaced when they die, and ended by
    :meth:`close`, or when the pool is forgotten or the program ends. Not bound to an event loop.
    """

    def __init__(self, limits: ParseLimits | None = None, passwords: tuple[str, ...] = ()) -> None:
        """Make a pool; no process is started yet.

        Args:
            limits: Time and memory for each file, and how many processes.
            passwords: Tried on an encrypted PDF.
        """
        self.limits = limits or ParseLimits()
        self._passwords = passwords
        self._idle = _Idle()
        self._jobs: set[_Job] = set()
        # One thread for each process that may run: a thread waits while its process works.
        self._threads = ThreadPoolExecutor(self.limits.workers, thread_name_prefix="parser")
        self._finalizer = weakref.finalize(self, _close, self._idle)

    async def parse(self, source: str, content: bytes | Path) -> ParsedText:
        """Parse a file.

        Args:
            source: Its path as users know it; the suffix chooses the parser.
            content: Its bytes, or where they are. Large files are better named than handed over.

        Raises:
            InputError: The file cannot be read or parsed, takes too long, needs too much memory, or crashes the parser.
            MissingDependencyError: It needs an extra that is not installed.
            PipelineCancelledError: The pool was closed meanwhile.
        """
        head = await asyncio.to_thread(_head, source, content)
        if is_light(source, head):
            return await asyncio.to_thread(_parse_here, source, content)
        if self._idle.closed:
            raise PipelineCancelledError(_CANCELLED)
        request, job = ParseRequest(source, content, self._passwords), _Job()
        self._jobs.add(job)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._work, request, job)
        except asyncio.CancelledError:
            job.cancel()
            raise
        finally:
            self._jobs.discard(job)

    def process_ids(self) -> list[int]:
        """Return the ids of the processes that wait for work."""
        with self._idle.lock:
            return [process.pid for process, _ in self._idle.processes]

    async def close(self) -> None:
        """End all processes; files being parsed are given up. May be called twice."""
        with self._idle.lock:
            self._idle.closed = True
        for job in list(self._jobs):
            job.cancel()
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._finalizer)

    def _work(self, request: ParseRequest, job: _Job) -> ParsedText:
        process, count = self._take()
        try:
            job.begin(process)
            return process.parse(request)
        except InputError as error:
            if job.is_cancelled:
                raise PipelineCancelledError(_CANCELLED) from error
            raise
        finally:
            job.end()
            if job.is_cancelled or not process.is_alive:
                process.kill()
            else:
                self._give_back(process, count + 1)

    def _take(self) -> tuple[ParserProcess, int]:
        """Return a process and how many files it has parsed."""
        while True:
            with self._idle.lock:
                if self._idle.closed:
                    raise PipelineCancelledError(_CANCELLED)
                if not self._idle.processes:
                    break
                process, count = self._idle.processes.pop()
            # It may have been killed from outside while it waited.
            if process.is_alive:
                return process, count
            process.kill()
        return ParserProcess(self.limits), 0

    def _give_back(self, process: ParserProcess, count: int) -> None:
        with self._idle.lock:
            if count < _FILES_PER_PROCESS and not self._idle.closed:
                self._idle.processes.append((process, count))
                return
        process.close()


def _close(idle: _Idle) -> None:
    with idle.lock:
        idle.closed = True
        processes, idle.processes = idle.processes, []
    for process, _ in processes:
        process.close()


def _head(source: str, content: bytes | Path) -> bytes:
    if isinstance(content, bytes):
        return content[:HEAD_BYTES]
    try:
        with content.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise InputError(f"file {source!r} cannot be read: {error.strerror or error}") from error


def _parse_here(source: str, content: bytes | Path) -> ParsedText:
    try:
        data = content if isinstance(content, bytes) else content.read_bytes()
    except OSError as error:
        raise InputError(f"file {source!r} cannot be read: {error.strerror or error}") from error
    return parse_content(FileContent(source, data))


async def parse_isolated(source: str, content: bytes | Path, limits: ParseLimits | None = None) -> ParsedText:
    """Parse one file with a pool of its own; for many files, make a :class:`ParserPool`.

    Args:
        source: Its path; the suffix chooses the parser.
        content: Its bytes, or where they are.
        limits: Time and memory.

    Raises:
        InputError: The file cannot be read or parsed, takes too long, needs too much memory, or crashes the parser.
        MissingDependencyError: It needs an extra that is not installed.
    """
    pool = ParserPool(limits)
    try:
        return await pool.parse(source, content)
    finally:
        await pool.close()
