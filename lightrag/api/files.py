"""Files of documents: safe names, exclusive creation, what a scan finds, where finished ones go."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from lightrag.exceptions import DuplicateError, InputError, StorageError, StorageFullError
from lightrag.ingest.documents import normalize_source_path

PARSED_FOLDER = "__parsed__"
SIDECAR_SUFFIX = ".meta.json"
WORKSPACE_MARK = ".lightrag-workspace"
MAX_NAME_BYTES = 200
MAX_PATH_BYTES = 1000

_FORBIDDEN = re.compile(r'[:*?"<>|]')
_RESERVED = re.compile(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)")
# They hold emoji and the words of some scripts together, and change no direction.
_JOINERS = "\u200c\u200d"
_NO_SPACE_LEFT = {28, 122}
_BLOCK = 1024 * 1024

ReadBlock = Callable[[int], Awaitable[bytes]]


def safe_path(raw: str) -> str:
    """Return the relative path under which an uploaded file is stored, and by which its document is known.

    A relative path such as ``letters/1926/a.md`` keeps its folders, so that files of one name from several folders are
    several documents. Of a path that is absolute or leads upwards only the last part counts: where a file lies on
    somebody's machine is no part of its name.

    Every part is NFC; control characters, marks that change the direction of text, and white space and dots at both
    ends are dropped; characters that some systems forbid become ``_``. A part too long for a file system is cut, and a
    digest keeps it apart from others with the same beginning.

    Raises:
        InputError: Nothing is left, the path is too long, or the name is kept for something else.
    """
    parts = unicodedata.normalize("NFC", raw).replace("\\", "/").split("/")
    if _leads_elsewhere(parts):
        parts = parts[-1:]
    folders = [folder for folder in map(_safe_part, parts[:-1]) if folder]
    name = _safe_part(parts[-1])
    if not name:
        raise InputError(f"file name {raw!r} cannot be used: nothing is left of it; send a name such as 'report.md'")
    if name.lower().endswith(SIDECAR_SUFFIX):
        raise InputError(f"file name {raw!r} is that of a metadata file; send metadata in the field 'metadata'")
    if folders and folders[0].casefold() == PARSED_FOLDER:
        raise InputError(f"file name {raw!r} cannot be used: the folder {PARSED_FOLDER!r} is kept for finished files")
    path = "/".join([*folders, name])
    if len(path.encode()) > MAX_PATH_BYTES:
        raise InputError(f"file name {raw[:80]!r}... is too long; allowed are {MAX_PATH_BYTES} bytes with its folders")
    return path


def _leads_elsewhere(parts: list[str]) -> bool:
    first = parts[0].strip()
    return (len(parts) > 1 and not first) or first.endswith(":") or any(part.strip() == ".." for part in parts)


def _safe_part(raw: str) -> str:
    visible = "".join(character for character in raw if character in _JOINERS or _is_visible(character))
    name = _FORBIDDEN.sub("_", " ".join(visible.split())).strip(" .")
    if not name.strip(_JOINERS):
        return ""
    return _shortened(f"_{name}" if _RESERVED.match(name) else name)


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs"}


def _shortened(name: str) -> str:
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    suffix = PurePosixPath(name).suffix
    if len(suffix.encode()) > 20:
        suffix = ""
    digest = sha256(name.encode()).hexdigest()[:8]
    room = MAX_NAME_BYTES - len(suffix.encode()) - len(digest) - 1
    stem = name.removesuffix(suffix).encode()[:room].decode("utf-8", "ignore")
    return f"{stem.rstrip(' .')}-{digest}{suffix}"


@dataclass(frozen=True)
class FoundFile:
    """A file that a scan found.

    Attributes:
        path: Where it is.
        name: Path relative to the folder, with slashes: the source path of its document.
        modified_at: Epoch seconds of its last change.
    """

    path: Path
    name: str
    modified_at: float

    @property
    def sidecar(self) -> Path:
        """Where its metadata may stand."""
        return self.path.with_name(self.path.name + SIDECAR_SUFFIX)


class InputFolder:
    """The folder of uploads of one workspace.

    Workspaces lie beside and, where one has no name, in one another. So each with a name marks its folder, and a marked
    folder below another workspace's is no part of that one: nothing in it is found, stored or deleted there.
    """

    def __init__(self, input_dir: str, workspace: str) -> None:
        """Name the folder; it is made when something is stored.

        Args:
            input_dir: Folder of all workspaces.
            workspace: Subfolder, ``""`` for none.

        Raises:
            InputError: The workspace is no name of a folder.
        """
        if workspace in {".", "..", PARSED_FOLDER} or "/" in workspace or "\\" in workspace:
            raise InputError(f"workspace {workspace!r} cannot be the name of a folder")
        self.root = Path(input_dir).resolve() / workspace
        self._workspace = workspace
        self._arriving: Counter[str] = Counter()

    def mark(self) -> None:
        """Make the folder of a workspace with a name known to the others as taken.

        Raises:
            OSError: The folder cannot be made or written to.
        """
        if self._workspace:
            self.root.mkdir(parents=True, exist_ok=True)
            (self.root / WORKSPACE_MARK).write_text(f"{self._workspace}\n", encoding="utf-8")

    def within(self, name: str) -> Path:
        """Return where a relative source path lies.

        Raises:
            InputError: It leads out of the folder, or into that of another workspace.
        """
        path = self.root / name
        real = None if "\0" in name else path.resolve()
        if real is None or not real.is_relative_to(self.root) or real.name == WORKSPACE_MARK:
            raise InputError(f"path {name!r} leads out of the input folder")
        for folder in real.parents:
            if folder == self.root:
                break
            if _is_marked(folder):
                taken = folder.relative_to(self.root).as_posix()
                raise InputError(f"path {name!r} cannot be used: the folder {taken!r} belongs to another workspace")
        return path

    @contextmanager
    def arriving(self, name: str) -> Iterator[None]:
        """Hide a file from :meth:`files` while it is stored and its document is not.

        A scan would make a document of it, and the upload, refused as its repetition, would take the file away again.

        Args:
            name: Safe relative path.
        """
        self._arriving[name] += 1
        try:
            yield
        finally:
            self._arriving[name] -= 1
            if not self._arriving[name]:
                del self._arriving[name]

    def is_arriving(self, source_path: str) -> bool:
        """Tell whether a file is being stored, under whose path no document can be found yet."""
        return any(normalize_source_path(name) == source_path for name in self._arriving)

    async def store(self, name: str, read: ReadBlock, most_bytes: int) -> Path:
        """Write a new file, block by block, and make it durable.

        Args:
            name: Safe relative path.
            read: Gives up to so many bytes, none at the end.
            most_bytes: Larger files are refused.

        Raises:
            DuplicateError: There is a file of that name, or one that has the name of its folder.
            InputError: The file is too large.
            StorageFullError: The disk is full.
            StorageError: The file cannot be written.
        """
        path = self.within(name)
        try:
            descriptor = await asyncio.to_thread(_create, path)
        except (FileExistsError, NotADirectoryError) as error:
            raise DuplicateError(f"a file {name!r}, or one with the name of its folder, lies there already") from error
        except OSError as error:
            raise _storage_error(name, error) from error
        try:
            await _copy(descriptor, read, name, most_bytes)
            await asyncio.to_thread(_make_durable, descriptor, path.parent)
        except BaseException as error:
            path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _storage_error(name, error) from error
            raise
        finally:
            os.close(descriptor)
        return path

    def files(self) -> Iterator[FoundFile]:
        """Yield the files below the folder, by path.

        Links, pipes, hidden, finished, arriving and metadata files are passed over, and folders of other workspaces.
        """
        for directory, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if self._is_own(Path(directory), name))
            for name in sorted(names):
                path = Path(directory) / name
                if name.startswith(".") or name.lower().endswith(SIDECAR_SUFFIX):
                    continue
                with contextlib.suppress(OSError):
                    found = path.lstat()
                    if not stat.S_ISREG(found.st_mode):
                        continue
                    relative = unicodedata.normalize("NFC", path.relative_to(self.root).as_posix())
                    if relative not in self._arriving:
                        yield FoundFile(path, relative, found.st_mtime)

    @staticmethod
    def _is_own(parent: Path, name: str) -> bool:
        return name != PARSED_FOLDER and not name.startswith(".") and not _is_marked(parent / name)

    def archive(self, file: FoundFile) -> None:
        """Move a finished file and its metadata below ``__parsed__``, keeping its folder; nothing is overwritten."""
        target = self.root / PARSED_FOLDER / file.path.relative_to(self.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        number = 0
        while target.exists():
            number += 1
            target = target.with_name(f"{file.path.stem}_{number:03d}{file.path.suffix}")
        with contextlib.suppress(FileNotFoundError):
            if file.sidecar.is_file():
                file.sidecar.rename(target.with_name(target.name + SIDECAR_SUFFIX))
            file.path.rename(target)

    def remove(self, name: str, *, finished: bool = True) -> bool:
        """Delete the file of a document with its metadata.

        Args:
            name: Its source path.
            finished: Also where finished files are kept.

        Returns:
            Whether there was one.
        """
        found = False
        for folder in ("", PARSED_FOLDER) if finished else ("",):
            with contextlib.suppress(InputError, OSError):
                path = self.within(f"{folder}/{name}" if folder else name)
                if path.is_file() and not path.is_symlink():
                    path.unlink()
                    path.with_name(path.name + SIDECAR_SUFFIX).unlink(missing_ok=True)
                    found = True
        return found

    def clear(self) -> int:
        """Delete the files that lie directly in the folder; finished ones and subfolders stay.

        Returns:
            How many were deleted.
        """
        if not self.root.is_dir():
            return 0
        found = (path for path in self.root.iterdir() if path.name != WORKSPACE_MARK)
        doomed = [path for path in found if path.is_file() or path.is_symlink()]
        for path in doomed:
            path.unlink(missing_ok=True)
        return len(doomed)


def _is_marked(folder: Path) -> bool:
    return (folder / WORKSPACE_MARK).exists()


def _create(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o644)


async def _copy(descriptor: int, read: ReadBlock, name: str, most_bytes: int) -> None:
    size = 0
    while block := await read(_BLOCK):
        size += len(block)
        if size > most_bytes:
            raise InputError(f"file {name!r} is too large; allowed are {most_bytes} bytes")
        await asyncio.to_thread(_write, descriptor, block)


def _write(descriptor: int, block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _make_durable(descriptor: int, folder: Path) -> None:
    os.fsync(descriptor)
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _storage_error(name: str, error: OSError) -> StorageError:
    kind = StorageFullError if error.errno in _NO_SPACE_LEFT else StorageError
    return kind(f"file {name!r} cannot be written: {error.strerror or error}")
