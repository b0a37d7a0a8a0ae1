"""One parsing process, as the main process sees it."""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from lightrag.exceptions import InputError, LightRAGError, MissingDependencyError
from lightrag.parser.frames import read_frame, write_frame
from lightrag.parser.limits import MEBIBYTE, ParseLimits
from lightrag.parser.result import ParsedText

logger = logging.getLogger("lightrag.parser")

_START_SECONDS = 60.0
_STOP_SECONDS = 2.0
_SHOWN_OUTPUT_BYTES = 2000
# The search path is handed over, so that the process finds this package and its extras wherever the program found them,
# and does not run the program's own main module again.
_BOOTSTRAP = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from lightrag.parser.worker import main; main(int(sys.argv[2]))"
)
_OUT_OF_MEMORY = (b"memory allocation of", b"MemoryError", b"bad_alloc", b"Cannot allocate memory", b"out of memory")


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """A file for a parsing process.

    Attributes:
        source: Its path; the suffix chooses the parser.
        content: Its bytes, or where they are.
        passwords: Tried on an encrypted PDF.
    """

    source: str
    content: bytes | Path
    passwords: tuple[str, ...] = ()


class ParserProcess:
    """A process that parses one file after the other.

    It has its own interpreter, so a crash, a runaway or a leak of a parser does not touch the main process.
    """

    def __init__(self, limits: ParseLimits) -> None:
        """Start the process and wait until it is ready.

        Args:
            limits: Time and memory of each file.

        Raises:
            LightRAGError: It does not start.
        """
        self._limits = limits
        self._timed_out = False
        self._interrupted = False
        # A file and no pipe: nobody has to read it, and there is something to look at after a crash.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP, json.dumps(sys.path), str(limits.memory_mebibytes * MEBIBYTE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            # Ctrl-C in a terminal is for the main process, which ends its workers in order.
            start_new_session=True,
        )
        try:
            with self._killed_after(_START_SECONDS):
                read_frame(self._replies)
        except (EOFError, ValueError, OSError) as error:
            output = self._last_output()
            self.kill()
            raise LightRAGError(f"a parsing process did not start: {output or 'it gave no reason'}") from error

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can take another file."""
        return not self._timed_out and self._process.poll() is None

    @property
    def _requests(self) -> BinaryIO:
        return cast("BinaryIO", self._process.stdin)

    @property
    def _replies(self) -> BinaryIO:
        return cast("BinaryIO", self._process.stdout)

    def parse(self, request: ParseRequest) -> ParsedText:
        """Parse a file; blocks until it is done or a limit is reached. After an error the process may be gone.

        Args:
            request: The file.

        Raises:
            InputError: The file cannot be parsed, takes too long, needs too much memory, or crashes the parser.
            MissingDependencyError: It needs an extra that is not installed.
        """
        is_path = isinstance(request.content, Path)
        header = {
            "source": request.source,
            "path": str(request.content.absolute()) if isinstance(request.content, Path) else "",
            "passwords": list(request.passwords),
            "seconds": self._limits.seconds,
        }
        try:
            with self._killed_after(self._limits.seconds):
                write_frame(self._requests, header, b"" if is_path else cast("bytes", request.content))
                answer, text = read_frame(self._replies)
        except (EOFError, OSError, ValueError) as error:
            raise self._why_it_died(request.source) from error
        return self._result(request.source, answer, text)

    def _result(self, source: str, answer: dict[str, Any], text: bytes) -> ParsedText:
        kind = answer.get("kind")
        if kind == "parsed":
            return ParsedText(text.decode("utf-8", "surrogatepass"), tuple(answer["warnings"]))
        if kind == "missing":
            raise MissingDependencyError(answer["package"], answer["extra"], f"Parsing of {source!r}")
        if kind == "memory":
            # What is left of a process that has run out of memory is in no state to go on with.
            self.kill()
            raise self._too_large(source)
        raise InputError(str(answer.get("message") or f"{source!r} cannot be parsed"))

    def _too_large(self, source: str) -> InputError:
        return InputError(
            f"{source!r} needs more memory to be parsed than the {self._limits.memory_mebibytes} MiB allowed "
            "(PARSER_MEMORY_LIMIT)"
        )

    def _why_it_died(self, source: str) -> InputError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        output = self._last_output()
        code = self._process.returncode
        self.kill()
        if self._timed_out:
            return InputError(
                f"{source!r} takes longer to be parsed than the {self._limits.seconds:g} seconds allowed "
                "(PARSER_TIMEOUT)"
            )
        if any(mark in output.encode() for mark in _OUT_OF_MEMORY):
            return self._too_large(source)
        if not self._interrupted:
            logger.warning("the parser crashed on %r (%s): %s", source, _exit_reason(code), output or "no output")
        return InputError(f"{source!r} crashes the parser ({_exit_reason(code)}); the file is damaged or hostile")

    def _last_output(self) -> str:
        self._output.seek(0, 2)
        self._output.seek(max(0, self._output.tell() - _SHOWN_OUTPUT_BYTES))
        return self._output.read().decode("utf-8", "replace").strip()

    @contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        def strike() -> None:
            self._timed_out = True
            self._process.kill()

        self._timed_out = False
        timer = threading.Timer(seconds, strike)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            # It may be striking at this very moment.
            timer.join()

    def interrupt(self) -> None:
        """Kill the process while another thread waits for it; that thread then gets an error."""
        self._interrupted = True
        self._process.kill()

    def kill(self) -> None:
        """End the process at once and wait until it is gone."""
        self._process.kill()
        self._release()

    def close(self) -> None:
        """Let the process end by itself, and kill it if it does not."""
        with contextlib.suppress(OSError):
            self._requests.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._release()

    def _release(self) -> None:
        self._process.wait()
        for stream in (self._requests, self._replies, self._output):
            # The request that was being written when the process died cannot be flushed any more.
            with contextlib.suppress(OSError):
                stream.close()


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "it does not end"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
