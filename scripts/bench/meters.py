"""What a process has used: time, bytes written, memory. Reads only `/proc`, so Linux only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getpagesize, getrusage

MB = 1e6


def cpu_seconds() -> float:
    """Return the user and system time of this process and of its ended children."""
    own, children = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak_rss_mb(status: str | None = None) -> float:
    """Return the peak resident size of this program; unlike `ru_maxrss` it does not count the parent's image.

    Args:
        status: Text of `/proc/self/status` when the caller read it at a moment of its own.
    """
    for line in (status or Path("/proc/self/status").read_text()).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / MB
    raise RuntimeError("/proc/self/status has no VmHWM")


def disk_bytes(directory: Path) -> int:
    """Return the sizes of all files below a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def resident_mb() -> float:
    """Return the resident size of this program now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * getpagesize() / MB


def io_counters() -> dict[str, int]:
    """Return what the kernel has counted for this process: `wchar` bytes were handed to it, and more."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


@dataclass
class Meter:
    """Adds up wall time, CPU time and bytes written over the blocks run under it."""

    cpu: float = 0.0
    written: int = 0
    flushed: int = 0
    walls: list[float] = field(default_factory=list)

    @property
    def wall(self) -> float:
        """The sum of the blocks' wall times in seconds."""
        return sum(self.walls)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Count what happens in the block."""
        before = io_counters()
        cpu, wall = cpu_seconds(), time.perf_counter()
        yield
        self.walls.append(time.perf_counter() - wall)
        self.cpu += cpu_seconds() - cpu
        after = io_counters()
        self.written += after["wchar"] - before["wchar"]
        self.flushed += after["write_bytes"] - before["write_bytes"]

    def figures(self) -> dict[str, float]:
        """Return the sums: seconds, and megabytes handed to the kernel and caused to go to the disk."""
        return {
            "wall_s": self.wall,
            "cpu_s": self.cpu,
            "written_mb": self.written / MB,
            "flushed_mb": self.flushed / MB,
        }
