from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path

import pytest

from lightrag.exceptions import InputError, StorageError, StorageFullError
from lightrag.kg.sqlite.database import Database

MakeDatabase = Callable[[], Database]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "lightrag.sqlite")
    opened.submit(lambda c: c.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT) STRICT") and None).result()
    yield opened
    opened.close()


class Held:
    """Holds the writer until it is let go, so that writes pile up behind it; records what it executes."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.statements: list[str] = []
        self._go, self._holding = threading.Event(), threading.Event()

    def __enter__(self) -> Held:
        def hold(connection: sqlite3.Connection) -> None:
            connection.set_trace_callback(self.statements.append)
            self._holding.set()
            assert self._go.wait(10)

        self.database.exclusive(hold)
        assert self._holding.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._go.set()


def insert(number: int, text: str = "") -> Callable[[sqlite3.Connection], None]:
    def write(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (?, ?)", (number, text))

    return write


def numbers(database: Database) -> list[int]:
    return [row[0] for row in database.read_now(lambda c: c.execute("SELECT n FROM t ORDER BY n").fetchall())]


def test_waiting_writes_are_committed_together(database: Database) -> None:
    with Held(database) as held:
        waiting = [database.submit(insert(number)) for number in range(50)]
    for future in waiting:
        future.result()
    assert held.statements.count("COMMIT") == 1
    assert numbers(database) == list(range(50))


def test_a_write_that_fails_takes_back_nothing_but_itself(database: Database) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (100, 'half')")
        raise ValueError("the writer's own")

    with Held(database) as held:
        before, failing, again, after = (database.submit(write) for write in (insert(1), half, insert(1), insert(2)))
    before.result()
    after.result()
    with pytest.raises(ValueError, match="the writer's own"):
        failing.result()
    with pytest.raises(StorageError, match="UNIQUE"):
        again.result()
    assert held.statements.count("COMMIT") == 1
    assert numbers(database) == [1, 2]


def test_a_write_is_visible_when_its_future_is_done(database: Database) -> None:
    for number in range(50):
        database.submit(insert(number)).result()
        assert numbers(database)[-1] == number


def test_what_follows_a_commit_is_done_before_anybody_goes_on(database: Database) -> None:
    followed: list[list[int]] = []

    def write(connection: sqlite3.Connection) -> Callable[[], None]:
        connection.execute("INSERT INTO t VALUES (7, '')")
        return lambda: followed.append(numbers(database))

    database.submit(write).result()
    assert followed == [[7]]


def test_nothing_follows_a_write_that_failed(database: Database) -> None:
    followed: list[int] = []

    def write(connection: sqlite3.Connection) -> Callable[[], None]:
        connection.execute("INSERT INTO t VALUES (1, '')")
        return lambda: followed.append(1)

    with Held(database):
        first, second = database.submit(write), database.submit(write)
    first.result()
    with pytest.raises(StorageError):
        second.result()
    assert followed == [1]


def test_memory_that_cannot_follow_is_dropped_and_the_write_stands(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    matrix = database.matrix("t", 4)
    matrix.state = matrix._empty(0)

    def write(connection: sqlite3.Connection) -> Callable[[], None]:
        connection.execute("INSERT INTO t VALUES (1, '')")

        def fail() -> None:
            raise MemoryError

        return fail

    database.submit(write).result()
    assert numbers(database) == [1]
    assert matrix.state is None
    assert "dropped" in caplog.text


def test_a_cancelled_write_does_not_happen(database: Database) -> None:
    with Held(database):
        cancelled, kept = database.submit(insert(1)), database.submit(insert(2))
        assert cancelled.cancel()
    kept.result()
    with pytest.raises(CancelledError):
        cancelled.result()
    assert numbers(database) == [2]


def test_writes_keep_their_order(database: Database) -> None:
    def append(number: int) -> Callable[[sqlite3.Connection], None]:
        def write(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE t SET text = text || ?", (f"{number} ",))

        return write

    database.submit(insert(1)).result()
    with Held(database):
        futures = [database.submit(append(number)) for number in range(20)]
    for future in futures:
        future.result()
    text = database.read_now(lambda c: c.execute("SELECT text FROM t").fetchone()[0])
    assert text == "".join(f"{number} " for number in range(20))


def test_several_event_loops_and_threads_can_write(database: Database) -> None:
    async def work(first: int) -> None:
        await asyncio.gather(*(database.write(insert(number)) for number in range(first, first + 25)))

    threads = [threading.Thread(target=asyncio.run, args=(work(first),)) for first in (0, 25, 50, 75)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(database) == list(range(100))


def test_a_full_disk_fails_only_what_does_not_fit(database: Database) -> None:
    limit_pages(database, 10)
    large = "x" * 100_000
    with Held(database):
        small, too_large, another = (database.submit(write) for write in (insert(1), insert(2, large), insert(3)))
    small.result()
    another.result()
    with pytest.raises(StorageFullError, match=r"lightrag\.sqlite"):
        too_large.result()
    assert numbers(database) == [1, 3]
    limit_pages(database, None)
    database.submit(insert(2, large)).result()
    assert numbers(database) == [1, 2, 3]


def test_a_full_disk_on_which_the_log_can_make_room(database: Database) -> None:
    """Simulated: there is no room as long as the log takes any."""
    log = Path(f"{database.path}-wal")

    def needs_room(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (7, '')")
        if log.stat().st_size:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL  # type: ignore[misc]
            raise error

    database.submit(insert(1)).result()
    assert log.stat().st_size
    database.submit(needs_room).result()
    with Held(database):
        waiting = [database.submit(insert(2)), database.submit(insert(3))]
    for future in waiting:
        future.result()
    assert numbers(database) == [1, 2, 3, 7]


def test_the_log_is_folded_in_before_it_takes_the_last_of_the_disk(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(database.path.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    largest = 0
    for number in range(60):
        database.submit(insert(number, "x" * 5_000)).result()
        largest = max(largest, Path(f"{database.path}-wal").stat().st_size)
    assert largest <= 100_000
    assert numbers(database) == list(range(60))


def limit_pages(database: Database, room: int | None) -> None:
    def limit(connection: sqlite3.Connection) -> None:
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={2**30 if room is None else used + room}")

    database.exclusive(limit).result()


def test_values_that_cannot_be_bound_are_an_input_error(database: Database) -> None:
    for value in ("lone \ud800", 2**70):
        with pytest.raises(InputError):
            database.submit(lambda c, value=value: c.execute("INSERT INTO t VALUES (1, ?)", (value,)) and None).result()
    assert numbers(database) == []


def test_a_closed_database_refuses(tmp_path: Path) -> None:
    database = Database(tmp_path / "lightrag.sqlite")
    database.close()
    database.close()
    with pytest.raises(StorageError, match="closed"):
        database.submit(insert(1))
    with pytest.raises(StorageError, match="closed"):
        database.read_now(lambda c: c.execute("SELECT 1").fetchall())


def test_what_is_queued_is_written_before_closing(tmp_path: Path) -> None:
    path = tmp_path / "lightrag.sqlite"
    database = Database(path)
    database.submit(lambda c: c.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)") and None).result()
    queued: list[Future[None]] = []
    with Held(database):
        queued += [database.submit(insert(number)) for number in range(20)]
    database.close()
    assert all(future.exception() is None for future in queued)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (20,)
    connection.close()
