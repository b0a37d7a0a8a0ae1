"""The files to ingest: which, under which source path, and what is known about them beforehand.

A source path is the path of a file as seen from the current folder, so that naming a folder and naming the files in it
come to the same. Files that lie elsewhere have the path from the folder above the one that was named.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from lightrag.exceptions import FilterSyntaxError, InputError

SIDECAR_SUFFIX = ".meta.json"
_LARGEST_SIDECAR = 1024 * 1024
_DATES = ("start_date", "end_date")


@dataclass(frozen=True)
class SourceFile:
    """A file to ingest.

    Attributes:
        path: Where it is.
        source_path: Path that identifies its document, with slashes.
        metadata: Fields of ``DocumentMetadata`` as JSON.
        is_named: Whether it was named itself, and not found in a folder.
    """

    path: Path
    source_path: str
    metadata: dict[str, Any] = field(default_factory=dict)
    is_named: bool = True


@dataclass(frozen=True)
class Search:
    """How folders are searched.

    Attributes:
        recursive: Also the folders below.
        patterns: Patterns of file names, any of them; none for all.
        root: Folder that source paths are relative to; ``None`` for the current one.
    """

    recursive: bool = False
    patterns: Sequence[str] = ()
    root: Path | None = None


def find_files(paths: Sequence[Path], search: Search) -> list[SourceFile]:
    """Return the files of paths in their order, those of a folder sorted; hidden, linked and metadata files left out.

    Raises:
        InputError: A path does not exist, lies outside of the root, or two files have the same source path.
    """
    from lightrag.ingest.documents import normalize_source_path

    found: dict[str, SourceFile] = {}
    for given in paths:
        base = _base(given, search.root)
        for path in _files_of(given, search):
            relative = unicodedata.normalize("NFC", _relative(path, base).as_posix())
            name = normalize_source_path(relative)
            same = found.get(name)
            if same is None:
                found[name] = SourceFile(path, name, is_named=given.is_file())
            elif not same.path.samefile(path):
                raise InputError(
                    f"{str(same.path)!r} and {str(path)!r} would both have the source path {name!r}; name the folder "
                    "that source paths begin at with --root"
                )
    return list(found.values())


def _base(given: Path, root: Path | None) -> Path:
    """Return the folder that the source paths of a path are relative to."""
    if not given.exists():
        raise InputError(f"{str(given)!r} does not exist")
    if not given.is_file() and not given.is_dir():
        raise InputError(f"{str(given)!r} is no file and no folder, but a device, pipe or socket")
    # A link that was named is taken where it lies, wherever it leads.
    place = given.resolve() if given.is_dir() else given.absolute().parent.resolve() / given.name
    if root is not None:
        if not place.is_relative_to(root.resolve()):
            raise InputError(f"{str(given)!r} does not lie in --root {str(root)!r}")
        return root
    here = Path.cwd()
    return here if place.is_relative_to(here.resolve()) else place.parent


def _relative(path: Path, base: Path) -> Path:
    return path.parent.resolve().joinpath(path.name).relative_to(base.resolve())


def _files_of(given: Path, search: Search) -> Iterator[Path]:
    if given.is_file():
        if not given.name.lower().endswith(SIDECAR_SUFFIX):
            yield given
        return
    entries = sorted(given.iterdir(), key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            if search.recursive:
                yield from _files_of(entry, search)
        elif entry.is_file() and not entry.name.lower().endswith(SIDECAR_SUFFIX) and _is_wanted(entry.name, search):
            yield entry


def _is_wanted(name: str, search: Search) -> bool:
    return not search.patterns or any(fnmatch(name, pattern) for pattern in search.patterns)


def described(file: SourceFile, shared: Mapping[str, Any]) -> SourceFile:
    """Return a file with its metadata: what stands in ``NAME.meta.json`` beside it, then what is said of all files.

    Tags of both count. Free metadata is joined, and so are single fields, where the file's own ones win; dates are
    taken from one of the two, since a start and an end belong together. Path and time come from the file.

    Args:
        file: The file.
        shared: Fields of ``DocumentMetadata`` as JSON.

    Raises:
        FilterSyntaxError: The metadata file cannot be used; the message names it.
    """
    from lightrag.query_filters import DocumentMetadata

    own = _sidecar(file.path)
    joined: dict[str, Any] = {**shared, **own}
    joined["tags"] = [*shared.get("tags", ()), *own.get("tags", ())]
    joined["meta"] = {**shared.get("meta", {}), **own.get("meta", {})}
    if any(name in own for name in _DATES):
        for name in _DATES:
            if name not in own:
                joined.pop(name, None)
    joined.setdefault("source_path", file.source_path)
    joined.setdefault("modified_at", datetime.fromtimestamp(file.path.stat().st_mtime, UTC).isoformat())
    # Only checked: tags stay as they were typed, since whoever keeps scopes refuses those that normalising would alter.
    DocumentMetadata.coerce(joined)
    return replace(file, metadata=joined)


def _sidecar(path: Path) -> dict[str, Any]:
    from lightrag.query_filters import DocumentMetadata
    from lightrag.query_filters.strict_model import read_json

    sidecar = path.with_name(path.name + SIDECAR_SUFFIX)
    # A name that is too long for the system to ask about has no such file either.
    if not os.path.isfile(sidecar) or sidecar.is_symlink():  # noqa: PTH113
        return {}
    try:
        if sidecar.stat().st_size > _LARGEST_SIDECAR:
            raise FilterSyntaxError(f"it is larger than {_LARGEST_SIDECAR} bytes")
        given = read_json(sidecar.read_text(encoding="utf-8"))
        if not isinstance(given, dict):
            raise FilterSyntaxError(f"it holds {type(given).__name__}; write a JSON object")
        fields = {name: value for name, value in given.items() if value is not None}
        DocumentMetadata.coerce(fields)
    except (OSError, ValueError, RecursionError) as error:
        raise FilterSyntaxError(f"metadata file {str(sidecar)!r}: {error}") from error
    return fields
