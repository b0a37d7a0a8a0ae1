"""The index of evidence answers like a plain list of rows, whatever happens to the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.contracts.evidence import ObjectKind
from lightrag.kg import evidence_index
from lightrag.kg.evidence_index import EvidenceIndex, EvidenceRows, Limit

DOCUMENTS = 5
OBJECTS = 6

Model = dict[int, tuple[ObjectKind, int, int]]


def rows_of(rows: list[tuple[int, int, int]]) -> EvidenceRows:
    return EvidenceRows(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def check(index: EvidenceIndex, model: Model, eligible: np.ndarray, limit: Limit) -> None:
    for kind in ObjectKind:
        own = sorted((seq, obj) for seq, (its_kind, obj, doc) in model.items() if its_kind is kind and eligible[doc])
        visible = index.visible(kind, eligible)
        assert set(np.flatnonzero(visible)) == {obj for _, obj in own}
        assert index.visible(kind, eligible) is visible
        expected: dict[int, list[int]] = {}
        for seq, obj in own:
            expected.setdefault(obj, []).append(seq)
        expected = {obj: kept for obj, sequences in expected.items() if (kept := cut(sequences, limit))}
        found = index.rows(kind, [*range(OBJECTS + 3), 10**9], eligible, limit)
        assert {obj: sequences.tolist() for obj, sequences in found.items()} == expected


def cut(sequences: list[int], limit: Limit) -> list[int]:
    if limit.rows is None:
        return sequences
    return sequences[max(len(sequences) - limit.rows, 0) :] if limit.newest else sequences[: limit.rows]


step = st.one_of(
    st.tuples(
        st.just("add"),
        st.lists(
            st.tuples(st.sampled_from(list(ObjectKind)), st.integers(0, OBJECTS), st.integers(0, DOCUMENTS - 1)),
            max_size=5,
        ),
    ),
    st.tuples(st.just("remove"), st.lists(st.integers(1, 25), max_size=4)),
    st.tuples(st.just("move"), st.tuples(st.integers(0, OBJECTS), st.integers(0, OBJECTS))),
    st.tuples(st.just("replace"), st.tuples(st.integers(1, 25), st.integers(0, DOCUMENTS - 1))),
)
limits = st.builds(Limit, st.none() | st.integers(0, 3), st.booleans())


@pytest.mark.parametrize("unordered", [0, 3, 1024])
def test_the_same_as_a_list_of_rows(unordered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_index, "_MIN_UNORDERED", unordered)

    @settings(deadline=None, max_examples=200)
    @given(st.lists(step, max_size=12), st.lists(st.booleans(), min_size=DOCUMENTS, max_size=DOCUMENTS), limits)
    def run(steps: list[tuple[str, Any]], eligible: list[bool], limit: Limit) -> None:
        index, model = EvidenceIndex(), {}
        mask = np.array(eligible)
        for action, given_value in steps:
            apply(index, model, action, given_value)
            check(index, model, mask, limit)
            check(index, model, ~mask, Limit())

    run()


def apply(index: EvidenceIndex, model: Model, action: str, value: Any) -> None:
    """Change the index and the model as a database does: new rows get the number after the highest one in use."""
    if action == "add":
        for kind in ObjectKind:
            new = []
            for its_kind, obj, doc in value:
                if its_kind is kind:
                    sequence = max(model, default=0) + 1
                    model[sequence] = (kind, obj, doc)
                    new.append((sequence, obj, doc))
            index.put(kind, rows_of(new))
    elif action == "remove":
        index.remove(value)
        for sequence in value:
            model.pop(sequence, None)
    elif action == "move":
        old, new_object = value
        kind = ObjectKind.ENTITY
        moved = [seq for seq, (its_kind, obj, _) in model.items() if its_kind is kind and obj == old]
        index.remove(moved)
        index.put(kind, rows_of([(seq, new_object, model[seq][2]) for seq in moved]))
        model.update({seq: (kind, new_object, model[seq][2]) for seq in moved})
    else:
        sequence, doc = value
        if sequence in model:
            kind, obj, _ = model[sequence]
            model[sequence] = (kind, obj, doc)
            index.put(kind, rows_of([(sequence, obj, doc)]))


def test_rows_that_come_back_under_old_numbers() -> None:
    index = EvidenceIndex()
    index.put(ObjectKind.ENTITY, rows_of([(1, 0, 0), (2, 0, 1), (5, 1, 0)]))
    index.remove([5])
    index.put(ObjectKind.ENTITY, rows_of([(3, 1, 1)]))
    everything = np.ones(2, dtype=np.bool_)
    found = index.rows(ObjectKind.ENTITY, [0, 1], everything)
    assert {obj: seqs.tolist() for obj, seqs in found.items()} == {0: [1, 2], 1: [3]}
    index.put(ObjectKind.ENTITY, rows_of([(9, 1, 1)]))
    index.put(ObjectKind.ENTITY, rows_of([(7, 1, 0)]))
    assert index.rows(ObjectKind.ENTITY, [1], everything)[1].tolist() == [3, 7, 9]


def test_large() -> None:
    rng = np.random.default_rng(1)
    sequences = np.arange(1, 50_001)
    objects, documents = rng.integers(0, 3000, 50_000), rng.integers(0, 700, 50_000)
    index = EvidenceIndex()
    for start in range(0, 50_000, 7000):
        part = slice(start, start + 7000)
        index.put(ObjectKind.RELATION, EvidenceRows(sequences[part], objects[part], documents[part]))
    gone = rng.choice(sequences, 5000, replace=False)
    index.remove(gone.tolist())
    eligible = rng.random(700) < 0.02
    alive = eligible[documents] & ~np.isin(sequences, gone)
    assert np.flatnonzero(index.visible(ObjectKind.RELATION, eligible)).tolist() == sorted(set(objects[alive].tolist()))
    found = index.rows(ObjectKind.RELATION, range(3000), eligible, Limit(2, newest=True))
    for number in range(3000):
        expected = sequences[alive & (objects == number)].tolist()[-2:]
        assert found.get(number, np.array([])).tolist() == expected
    index.clear()
    assert not index.visible(ObjectKind.RELATION, eligible).any()
