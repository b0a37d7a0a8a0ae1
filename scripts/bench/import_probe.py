"""Import the engine in a fresh process and print one line of JSON: what it cost, touched, or is.

    python scripts/bench/import_probe.py cost
    python -B scripts/bench/import_probe.py touched
    python scripts/bench/import_probe.py versions

`cost` gives the time of `from lightrag import LightRAG`, the peak resident size and the number of modules.
Nothing is imported before it that a bare interpreter has not loaded, or the figures would be too small.

`touched` lists what the import did beyond loading modules: files written, processes and connections started,
and files and environment variables read by the engine's own code, itself or through a library that it called.
What a library does while that library is itself imported is only counted (`others`), being no doing of the
engine, and so is pydantic's search for plugins, which any first model class starts. `-B` keeps Python's own
cache of compiled modules out of the list.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # as `typing` has it; to import that module would be part of what is measured
if TYPE_CHECKING:
    from typing import Any

_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = ("mkdir", "rename", "remove", "rmdir", "truncate", "link", "symlink", "chmod")
_STARTS = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "sqlite3.")
_MODULE_FILES = (".py", ".pyc", ".so", ".pth")
_NOT_OURS = ("pydantic.plugin",)


def measure_cost() -> dict[str, object]:
    """Import the engine and return seconds, megabytes and modules."""
    before = len(sys.modules)
    start, cpu = time.perf_counter(), time.process_time()
    from lightrag import LightRAG

    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    # Read at once: what this file imports from here on must not count.
    with open("/proc/self/status") as status:  # noqa: PTH123
        text = status.read()
    modules = len(sys.modules) - before

    from meters import peak_rss_mb

    return {
        "seconds": seconds,
        "cpu_s": cpu,
        "modules": modules,
        "peak_rss_mb": peak_rss_mb(text),
        "engine": sys.modules[LightRAG.__module__].__file__,
    }


def _line_of_engine() -> str:
    """Return the line of the engine that caused what is going on; empty if it was another module's import."""
    frame: Any = sys._getframe(3)  # noqa: SLF001
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if "importlib._bootstrap" in frame.f_code.co_filename or name.startswith(_NOT_OURS):
            return ""
        if name == "lightrag" or name.startswith("lightrag."):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Recorder:
    """Notes what goes on while `recording`; a flag, because an audit hook cannot be taken out again."""

    def __init__(self) -> None:
        self.recording = False
        self.seen: dict[str, list[str]] = {
            "written": [],
            "started": [],
            "files_read": [],
            "environment_read": [],
        }
        self.others: dict[str, int] = {}

    def note(self, kind: str, what: str) -> None:
        """Note one event; reads count only when the engine caused them, changes always."""
        where = _line_of_engine()
        if where or kind in ("written", "started"):
            self.seen[kind].append(f"{what} by {where or 'another module'}")
        else:
            self.others[kind] = self.others.get(kind, 0) + 1

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Sort one audit event."""
        if not self.recording:
            return
        if event == "open":
            path, mode, flags = (*arguments, None, None)[:3]
            if set(str(mode or "")) & set("wax+") or (isinstance(flags, int) and flags & _WRITING_FLAGS):
                self.note("written", repr(path))
            elif not str(path).endswith(_MODULE_FILES):
                self.note("files_read", repr(path))
        elif event.startswith("shutil.") or event in {f"os.{change}" for change in _CHANGES}:
            self.note("written", f"{event} {arguments!r}")
        elif event.startswith(_STARTS) and event != "socket.__new__":
            self.note("started", f"{event} {arguments!r}")
        elif event in ("os.listdir", "os.scandir"):
            self.note("files_read", f"{event} {arguments!r}")

    def start(self) -> None:
        """Begin to record; look-ups in the environment have no audit event, so its mapping is watched."""
        environment: Any = type(os.environ)
        get_item, iterate = environment.__getitem__, environment.__iter__

        def watched_get_item(mapping: Any, key: Any) -> Any:
            if self.recording:
                self.note("environment_read", repr(key))
            return get_item(mapping, key)

        def watched_iterate(mapping: Any) -> Any:
            if self.recording:
                self.note("environment_read", "all of it")
            return iterate(mapping)

        environment.__getitem__ = watched_get_item
        environment.__iter__ = watched_iterate
        sys.addaudithook(self.audit)
        self.recording = True


def record_touches() -> dict[str, object]:
    """Import the engine under an audit hook and return what it touched."""
    recorder = Recorder()
    recorder.start()
    from lightrag import LightRAG

    recorder.recording = False
    return {**recorder.seen, "others": recorder.others, "engine": sys.modules[LightRAG.__module__].__file__}


def list_versions() -> dict[str, object]:
    """Return the versions of what a figure may depend on, and the file that the engine comes from."""
    import platform
    from importlib.metadata import distributions

    from lightrag import LightRAG

    wanted = ("lightrag-hku", "numpy", "nano-vectordb", "networkx")
    versions = {one.metadata["Name"].lower(): one.version for one in distributions()}
    return {name: versions.get(name, "none") for name in wanted} | {
        "python": platform.python_version(),
        "engine": sys.modules[LightRAG.__module__].__file__,
    }


def main() -> None:
    """Do what the command line names."""
    probes = {"cost": measure_cost, "touched": record_touches, "versions": list_versions}
    if len(sys.argv) != 2 or sys.argv[1] not in probes:
        raise SystemExit(f"usage: import_probe.py {'|'.join(probes)}")
    figures = probes[sys.argv[1]]()

    import json

    print(json.dumps(figures))


if __name__ == "__main__":
    main()
