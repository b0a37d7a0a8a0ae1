"""Parsing in processes of their own: limits, crashes, cancellation, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lightrag.exceptions import InputError, MissingDependencyError, PipelineCancelledError
from lightrag.parser.limits import ParseLimits
from lightrag.parser.pool import ParserPool, parse_isolated
from lightrag.parser.process import ParseRequest, ParserProcess
from tests.parser import corpus
from tests.parser.waiting import eventually

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells in /proc what a process uses")


@pytest.fixture
async def pool() -> AsyncIterator[ParserPool]:
    made = ParserPool(ParseLimits(seconds=60, workers=1))
    yield made
    await made.close()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def children_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


async def test_a_process_is_kept_for_the_next_file(pool: ParserPool, tmp_path: Path) -> None:
    first = await pool.parse("a.docx", corpus.docx())
    assert corpus.SENTENCE in first.text
    kept = pool.process_ids()
    assert len(kept) == 1
    path = tmp_path / "stored"
    path.write_bytes(corpus.pdf())
    assert corpus.LATIN_SENTENCE in (await pool.parse("folder/b.pdf", path)).text
    assert pool.process_ids() == kept


async def test_text_needs_no_process(pool: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a,b\n1,2\n")
    assert (await pool.parse("a.csv", path)).text.startswith("| a | b |")
    assert pool.process_ids() == []
    # What calls itself text and is not goes where it can do no harm.
    parsed = await pool.parse("a.txt", corpus.docx())
    assert parsed.warnings
    assert len(pool.process_ids()) == 1


async def test_errors_of_a_file_come_over_and_the_process_goes_on(pool: ParserPool, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'a\.pdf' is protected by a password"):
        await pool.parse("a.pdf", corpus.pdf(password="secret"))
    kept = pool.process_ids()
    with pytest.raises(InputError, match="cannot be parsed; supported are"):
        await pool.parse("a.exe", b"MZ")
    with pytest.raises(InputError, match=r"file 'a\.pdf' cannot be read: No such file"):
        await pool.parse("a.pdf", tmp_path / "missing")
    assert "Report 1" in (await pool.parse("a.pdf", corpus.pdf())).text
    assert pool.process_ids() == kept


async def test_passwords_reach_the_process() -> None:
    pool = ParserPool(ParseLimits(workers=1), passwords=("secret",))
    try:
        assert "Report 1" in (await pool.parse("a.pdf", corpus.pdf(password="secret"))).text
    finally:
        await pool.close()


async def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_parsed() -> None:
    pool = ParserPool(ParseLimits(seconds=0.2, workers=1))
    try:
        with pytest.raises(InputError, match=r"'big\.pdf' takes longer to be parsed than the 0\.2 seconds allowed"):
            await pool.parse("big.pdf", corpus.pdf(pages=600))
        assert pool.process_ids() == []
        pool.limits = ParseLimits(workers=1)
        assert "<br>" not in (await pool.parse("a.rtf", corpus.rtf())).text
    finally:
        await pool.close()


@LINUX
async def test_a_file_that_needs_too_much_memory_is_given_up_and_the_next_one_parsed() -> None:
    pool = ParserPool(ParseLimits(memory_mebibytes=512, workers=1))
    try:
        for megabytes in (20, 60):
            with pytest.raises(InputError, match=r"'a\.docx' needs more memory to be parsed than the 512 MiB allowed"):
                await pool.parse("a.docx", corpus.large_docx(megabytes))
        assert corpus.SENTENCE in (await pool.parse("a.docx", corpus.docx())).text
    finally:
        await pool.close()


async def test_a_process_that_dies_while_idle_is_replaced(pool: ParserPool) -> None:
    await pool.parse("a.docx", corpus.docx())
    (dead,) = pool.process_ids()
    os.kill(dead, signal.SIGKILL)
    assert until(lambda: not is_running(dead))
    assert corpus.SENTENCE in (await pool.parse("a.docx", corpus.docx())).text
    assert dead not in pool.process_ids()


@LINUX
async def test_a_process_that_dies_at_work_fails_that_file_only(pool: ParserPool) -> None:
    await pool.parse("a.docx", corpus.docx())
    (pid,) = pool.process_ids()
    task = asyncio.create_task(pool.parse("big.pdf", corpus.pdf(pages=600)))
    await eventually(lambda: not pool.process_ids())
    os.kill(pid, signal.SIGSEGV)
    with pytest.raises(InputError, match=r"'big\.pdf' crashes the parser \(signal SIGSEGV\)"):
        await task
    assert corpus.SENTENCE in (await pool.parse("a.docx", corpus.docx())).text


@LINUX
async def test_a_cancelled_file_stops_its_process(pool: ParserPool) -> None:
    await pool.parse("a.docx", corpus.docx())
    (pid,) = pool.process_ids()
    task = asyncio.create_task(pool.parse("big.pdf", corpus.pdf(pages=600)))
    await eventually(lambda: not pool.process_ids())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert until(lambda: not is_running(pid))
    assert corpus.SENTENCE in (await pool.parse("a.docx", corpus.docx())).text


@LINUX
async def test_closing_ends_everything_at_work_and_idle() -> None:
    pool = ParserPool(ParseLimits(workers=2))
    await asyncio.gather(pool.parse("a.docx", corpus.docx()), pool.parse("b.docx", corpus.docx()))
    before = set(pool.process_ids())
    big = corpus.pdf(pages=600)
    tasks = [asyncio.create_task(pool.parse(f"{number}.pdf", big)) for number in range(4)]
    await eventually(lambda: not pool.process_ids())
    await pool.close()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(outcome, PipelineCancelledError)
    assert until(lambda: not any(is_running(pid) for pid in before))
    with pytest.raises(PipelineCancelledError):
        await pool.parse("a.docx", corpus.docx())
    await pool.close()


async def test_no_more_processes_than_allowed() -> None:
    pool = ParserPool(ParseLimits(workers=2))
    try:
        parsed = await asyncio.gather(*(pool.parse(f"{number}.docx", corpus.docx()) for number in range(8)))
        assert {outcome.text for outcome in parsed} == {parsed[0].text}
        assert 1 <= len(pool.process_ids()) <= 2
    finally:
        await pool.close()


@LINUX
async def test_a_forgotten_pool_leaves_no_process() -> None:
    pool = ParserPool(ParseLimits(workers=1))
    await pool.parse("a.docx", corpus.docx())
    (pid,) = pool.process_ids()
    del pool
    gc.collect()
    assert until(lambda: not is_running(pid))


def test_one_pool_from_several_event_loops() -> None:
    pool = ParserPool(ParseLimits(workers=1))
    texts = [asyncio.run(pool.parse("a.docx", corpus.docx())).text for _ in range(2)]
    asyncio.run(pool.close())
    assert texts[0] == texts[1]


async def test_one_file_with_a_pool_of_its_own() -> None:
    before = set(children_of(os.getpid())) if sys.platform == "linux" else set()
    parsed = await parse_isolated("a.odt", corpus.odt(), ParseLimits(seconds=30))
    assert parsed.text.startswith("# Annual report")
    if sys.platform == "linux":
        assert set(children_of(os.getpid())) <= before


def test_a_missing_extra_is_said_by_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The process gets the search path, and finds a package first that cannot be imported.
    broken = tmp_path / "kreuzberg"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('not here')")
    monkeypatch.syspath_prepend(str(tmp_path))
    process = ParserProcess(ParseLimits())
    try:
        with pytest.raises(MissingDependencyError, match=r"Parsing of 'a\.docx' needs .*lightrag-hku\[documents\]"):
            process.parse(ParseRequest("a.docx", corpus.docx()))
        assert process.is_alive
    finally:
        process.close()


PROGRAM = textwrap.dedent(
    """
    import asyncio, os, sys, time
    from lightrag.parser.pool import ParserPool

    async def main():
        pool = ParserPool()
        await pool.parse("a.html", b"<html><body><p>text</p></body></html>")
        print(*pool.process_ids(), flush=True)
        {ending}

    asyncio.run(main())
    """
)


@LINUX
@pytest.mark.parametrize("ending", ["pass", "os.kill(os.getpid(), 9)", "raise SystemExit(3)"])
def test_processes_end_with_the_program(ending: str) -> None:
    """The program has no main guard, ends without closing, and is even killed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(ending=ending)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    pid = int(done.stdout)
    assert done.stderr == ""
    assert until(lambda: not is_running(pid))


@pytest.mark.parametrize(
    ("limits", "name"),
    [({"seconds": 0}, "seconds"), ({"memory_mebibytes": 100}, "memory_mebibytes"), ({"workers": 0}, "workers")],
)
def test_limits_that_cannot_be_met(limits: dict[str, int], name: str) -> None:
    with pytest.raises(InputError, match=name):
        ParseLimits(**limits)
