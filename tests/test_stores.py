"""All stores of a workspace are opened and closed together."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from lightrag.exceptions import StorageError
from lightrag.stores import Stores


@dataclass
class Store:
    """Notes what is done to it, and fails where it is told to."""

    name: str
    log: list[str]
    fails: set[str] = field(default_factory=set)

    async def initialize(self) -> None:
        self._do("open")

    async def index_done_callback(self) -> None:
        self._do("flush")

    async def finalize(self) -> None:
        self._do("close")

    def _do(self, step: str) -> None:
        self.log.append(f"{step} {self.name}")
        if step in self.fails:
            raise StorageError(f"{self.name} cannot {step}")


NAMES = [one.name for one in fields(Stores)]


def make_stores(**fails: str) -> tuple[Stores, list[str]]:
    log: list[str] = []
    stores: dict[str, Any] = {name: Store(name, log, {fails[name]} if name in fails else set()) for name in NAMES}
    return Stores(**stores), log


async def test_they_are_flushed_before_any_is_closed_and_closed_in_reverse() -> None:
    stores, log = make_stores()
    await stores.initialize()
    await stores.finalize()
    order = [line.split()[1] for line in log[: len(NAMES)]]
    assert sorted(order) == sorted(NAMES)
    assert log == [
        *(f"{step} {name}" for step in ("open", "flush") for name in order),
        *(f"close {name}" for name in order[::-1]),
    ]


@pytest.mark.parametrize("step", ["flush", "close"])
async def test_one_that_fails_keeps_none_from_being_flushed_and_closed(step: str) -> None:
    stores, log = make_stores(evidence=step)
    with pytest.raises(StorageError, match=f"evidence cannot {step}"):
        await stores.finalize()
    assert {f"flush {name}" for name in NAMES} | {f"close {name}" for name in NAMES} == set(log)


async def test_those_opened_before_one_fails_are_closed_again_even_when_closing_fails() -> None:
    stores, log = make_stores(evidence="open", text_chunks="close")
    with pytest.raises(StorageError, match="text_chunks cannot close") as caught:
        await stores.initialize()
    assert "evidence cannot open" in str(caught.value.__context__)
    opened = [line.removeprefix("open ") for line in log if line.startswith("open ")]
    assert opened[-1] == "evidence"
    assert [line for line in log if line.startswith("close ")] == [f"close {name}" for name in opened[-2::-1]]
