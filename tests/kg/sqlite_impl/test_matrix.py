from __future__ import annotations

import sqlite3
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.exceptions import StorageError
from lightrag.kg.row_vectors import normalised
from lightrag.kg.sqlite import matrix as matrix_module
from lightrag.kg.sqlite.matrix import MatrixState, VectorMatrix, exact_similarities, search

DIMENSION = 16


def random_rows(count: int, seed: int = 0) -> np.ndarray:
    return normalised(np.random.default_rng(seed).standard_normal((count, DIMENSION)))


def filled(rows: np.ndarray, first: int = 1) -> VectorMatrix:
    matrix = VectorMatrix("t", rows.shape[1])
    matrix.state = matrix._empty(0)
    matrix.put(list(range(first, first + len(rows))), rows)
    return matrix


def state_of(matrix: VectorMatrix) -> MatrixState:
    assert matrix.state is not None
    return matrix.state


@pytest.mark.parametrize("count", [1, 5, 50, 2000])
@pytest.mark.parametrize("floor", [-1.0, 0.0, 0.3])
def test_the_search_is_exact(count: int, floor: float) -> None:
    rows, target = random_rows(2000), random_rows(1, seed=9)[0]
    similarities = rows.astype(np.float64) @ target.astype(np.float64)
    order = [index for index in np.argsort(-similarities) if similarities[index] >= floor][:count]
    hits = search(state_of(filled(rows)), target, count, floor)
    assert [hit.row_id - 1 for hit in hits] == order
    assert [hit.similarity for hit in hits] == pytest.approx(similarities[order].tolist(), abs=1e-9)


def test_all_rows_that_are_equal_to_the_last_come_back() -> None:
    rows = np.repeat(random_rows(3), 5, axis=0)
    hits = search(state_of(filled(rows)), rows[0], 2, -1.0)
    assert sorted(hit.row_id for hit in hits) == [1, 2, 3, 4, 5]
    assert len({hit.similarity for hit in hits}) == 1


def test_equal_vectors_are_equally_similar_wherever_they_lie() -> None:
    rows = random_rows(999)
    rows[[3, 500, 998]] = rows[77]
    target = random_rows(1, seed=5)[0]
    found = exact_similarities(state_of(filled(rows)), target, np.array([3, 77, 500, 998]))
    assert len(set(found.tolist())) == 1


@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.3, 0.4, 0.9, 1.0])
def test_only_eligible_rows(share: float) -> None:
    rows, target = random_rows(1500), random_rows(1, seed=3)[0]
    rows[::100] = 0
    state = state_of(filled(rows, first=0))
    eligible = np.flatnonzero(np.random.default_rng(5).random(1500) < share)
    everything = [hit for hit in search(state, target, 1500, -1.0) if hit.row_id in eligible]
    assert search(state, target, 1500, -1.0, eligible) == everything
    assert search(state, target, 2, -1.0, eligible) == everything[:2]
    floor = everything[3].similarity if len(everything) > 3 else 0.0
    assert search(state, target, 9, floor, eligible) == [hit for hit in everything if hit.similarity >= floor][:9]


def test_equal_rows_are_all_found_among_the_eligible() -> None:
    rows = np.repeat(random_rows(1), 40, axis=0)
    state = state_of(filled(rows, first=0))
    for eligible in (np.arange(3, 9), np.arange(2, 40)):
        hits = search(state, rows[0], 2, -1.0, eligible)
        assert [hit.row_id for hit in hits] == eligible.tolist()


def test_replaced_and_removed_rows_are_left_out() -> None:
    rows = random_rows(20)
    matrix = filled(rows)
    matrix.put([5], rows[:1])
    matrix.remove([1, 999])
    hits = search(state_of(matrix), rows[0], 3, 0.99)
    assert [hit.row_id for hit in hits] == [5]
    matrix.remove([5])
    assert search(state_of(matrix), rows[0], 3, 0.99) == []


def test_the_last_of_equal_row_ids_counts() -> None:
    rows = random_rows(3)
    matrix = filled(rows[:1])
    matrix.put([7, 7], rows[1:])
    assert state_of(matrix).live == 2
    assert [hit.row_id for hit in search(state_of(matrix), rows[2], 5, 0.999)] == [7]


def test_unchanged_rows_take_no_space() -> None:
    rows = random_rows(10)
    matrix = filled(rows)
    before = state_of(matrix)
    matrix.put(list(range(1, 11)), rows.copy())
    assert state_of(matrix) is before


def test_a_state_does_not_change_while_the_matrix_does() -> None:
    rows = random_rows(300)
    matrix = filled(rows)
    before = state_of(matrix)
    target = rows[0]
    expected = search(before, target, 300, -1.0)
    for seed in range(1, 12):
        matrix.put(list(range(1, 301)), random_rows(300, seed))
        matrix.remove([seed])
    assert search(before, target, 300, -1.0) == expected


def test_dead_rows_are_cleared_away() -> None:
    matrix = filled(random_rows(400))
    for seed in range(1, 30):
        matrix.put(list(range(1, 101)), random_rows(100, seed))
        state = state_of(matrix)
        assert state.live == 400
        assert len(state.dead) <= max(256, 0.25 * state.used)
        assert all(state.row_ids[position] == row_id for row_id, position in state.positions.items())
    matrix.remove(list(range(1, 400)))
    assert state_of(matrix).used < 400
    assert [hit.row_id for hit in search(state_of(matrix), random_rows(400)[399], 5, -1.0)] == [400]


def test_zero_rows_match_nothing() -> None:
    rows = random_rows(4)
    rows[2] = 0
    matrix = filled(rows)
    assert len(search(state_of(matrix), rows[0], 9, -1.0)) == 3
    assert search(state_of(matrix), np.zeros(DIMENSION, np.float32), 9, -1.0) == []
    matrix.put([3], rows[:1])
    assert len(search(state_of(matrix), rows[0], 9, -1.0)) == 4


@pytest.mark.parametrize("scale", [1e-45, 1e-30, 1.0, 1e30, 8e37])
def test_normalising_at_any_scale(scale: float) -> None:
    direction = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    given = (
        (direction * scale).astype(np.float32) if scale > 1e-45 else np.array([[1e-45, 0, 0], [0, 0, 0]], np.float32)
    )
    lengths = np.linalg.norm(normalised(given).astype(np.float64), axis=1)
    assert lengths.tolist() == pytest.approx([1.0, 0.0], abs=1e-6)


def table(rows: list[tuple[int, bytes]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, vector BLOB)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    return connection


def test_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_module, "_LOAD_ROWS", 64)
    rows = random_rows(1000)
    rows[10] = 0
    connection = table([(2 * number + 5, row.tobytes()) for number, row in enumerate(rows)])
    matrix = VectorMatrix("t", DIMENSION)
    matrix.load(connection)
    connection.close()
    state = state_of(matrix)
    assert state.live == 1000
    assert state.zeros.tolist() == [10]
    assert np.array_equal(state.vectors[:1000], rows)
    assert [hit.row_id for hit in search(state, rows[7], 1, 0.99)] == [19]


def test_loading_nothing() -> None:
    connection = table([])
    matrix = VectorMatrix("t", DIMENSION)
    matrix.load(connection)
    connection.close()
    assert search(state_of(matrix), random_rows(1)[0], 5, -1.0) == []


def test_a_vector_of_another_length_is_named() -> None:
    connection = table([(1, b"\0" * 4 * (DIMENSION + 1))])
    with pytest.raises(StorageError, match="16 dimensions"):
        VectorMatrix("t", DIMENSION).load(connection)
    connection.close()


def test_searching_in_threads_while_rows_change() -> None:
    fixed = random_rows(50)
    target = fixed[0]
    matrix = filled(fixed)
    expected = {hit.row_id: hit.similarity for hit in search(state_of(matrix), target, 50, -1.0)}
    stop = threading.Event()
    wrong: list[object] = []

    def look() -> None:
        while not stop.is_set():
            hits = search(state_of(matrix), target, 10_000, -1.0)
            found = {hit.row_id: hit.similarity for hit in hits if hit.row_id <= 50}
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for seed in range(300):
        matrix.put(list(range(100, 140)), random_rows(40, seed))
        matrix.remove(list(range(100, 110)))
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(0, 5)),
        st.tuples(st.just("remove"), st.lists(st.integers(1, 12), max_size=4), st.just(0)),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(steps=steps, count=st.integers(0, 14))
def test_any_sequence_of_changes(steps: list[tuple[str, list[int], int]], count: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matrix_module, "_MIN_DEAD_ROWS", 3)
        patched.setattr(matrix_module, "_MIN_CAPACITY", 2)
        matrix = VectorMatrix("t", DIMENSION)
        matrix.state = matrix._empty(0)
        model: dict[int, np.ndarray] = {}
        for step, row_ids, seed in steps:
            if step == "put":
                rows = random_rows(len(row_ids), seed)
                matrix.put(row_ids, rows)
                model.update(zip(row_ids, rows, strict=True))
            else:
                matrix.remove(row_ids)
                model = {row_id: row for row_id, row in model.items() if row_id not in row_ids}
        state = state_of(matrix)
        assert state.live == len(model)
        target = random_rows(1, 99)[0]
        exact = {row_id: float(row.astype(np.float64) @ target) for row_id, row in model.items()}
        best = sorted(exact, key=lambda row_id: -exact[row_id])[:count]
        hits = search(state, target, count, -1.0)
        assert [hit.similarity for hit in hits[:count]] == pytest.approx([exact[row_id] for row_id in best], abs=1e-9)
