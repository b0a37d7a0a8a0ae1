"""What parsing one file may cost."""

from __future__ import annotations

from dataclasses import dataclass

from lightrag.exceptions import InputError

MEBIBYTE = 1024 * 1024
_LEAST_MEMORY = 512


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits of a parsing process.

    Attributes:
        seconds: Wall time for one file.
        memory_mebibytes: Address space of the process, of which the libraries themselves take about 600 MiB. Enforced
            where the operating system can: on Linux, not on Windows and macOS.
        workers: Processes at a time.
    """

    seconds: float = 300.0
    memory_mebibytes: int = 2048
    workers: int = 2

    def __post_init__(self) -> None:
        if self.seconds <= 0:
            raise InputError(f"seconds {self.seconds!r} must be more than 0")
        if self.memory_mebibytes < _LEAST_MEMORY:
            raise InputError(f"memory_mebibytes {self.memory_mebibytes!r} must be at least {_LEAST_MEMORY}")
        if self.workers < 1:
            raise InputError(f"workers {self.workers!r} must be at least 1")
