"""Files that are replaced whole: whoever opens one sees the old content or the new, never a part of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_ASIDE = ".lightrag-new"


def write_aside(path: Path, pieces: Iterable[bytes]) -> Path:
    """Write a file beside the one it shall replace; it is on the disk when this returns.

    Args:
        path: The file to be replaced.
        pieces: Its new content.

    Returns:
        Where it was written, for :func:`put_in_place`.

    Raises:
        OSError: It could not be written; nothing is left of it.
    """
    aside = path.with_name(path.name + _ASIDE)
    try:
        with aside.open("wb", buffering=1 << 20) as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return aside


def put_in_place(files: Iterable[tuple[Path, Path]], folder: Path) -> None:
    """Let files written aside take the place of others, and make that durable.

    Args:
        files: Where each was written, and what it replaces.
        folder: The folder of all of them.

    Raises:
        OSError: A file could not be replaced; those before it were.
    """
    for aside, path in files:
        aside.replace(path)
    sync_folder(folder)


def remove_leftovers(folder: Path) -> None:
    """Delete what a killed process wrote aside and never put in place."""
    for path in folder.glob(f"*{_ASIDE}"):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make new, replaced and deleted names of a folder durable; a no-op where folders cannot be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
