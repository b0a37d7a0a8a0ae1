"""Ids and hashes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.runtime.hashing import compute_args_hash, compute_mdhash_id

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)


def test_an_id_is_the_md5_of_the_text() -> None:
    assert compute_mdhash_id("Alice", prefix="ent-") == "ent-" + hashlib.md5(b"Alice").hexdigest()
    assert compute_mdhash_id("日本") == hashlib.md5("日本".encode()).hexdigest()
    assert len(compute_mdhash_id("\ud800")) == 32


def test_parts_do_not_run_together() -> None:
    assert compute_args_hash("1", "11") != compute_args_hash("11", "1")
    assert compute_args_hash("a", "") != compute_args_hash("", "a")
    assert compute_args_hash("1:a") != compute_args_hash("a")
    assert compute_args_hash() != compute_args_hash("")
    assert len({compute_args_hash(part) for part in ("1", 1, 1.0, True, "True", None, "None", "")}) == 8


@given(st.lists(scalars, max_size=4), st.lists(scalars, max_size=4))
def test_different_lists_have_different_hashes(first: list[Any], second: list[Any]) -> None:
    same = [(type(part), part) for part in first] == [(type(part), part) for part in second]
    # 0.0 and -0.0 are equal and yet written differently.
    if same and "-0.0" not in map(repr, [*first, *second]):
        assert compute_args_hash(*first) == compute_args_hash(*second)
    if not same:
        assert compute_args_hash(*first) != compute_args_hash(*second)


@pytest.mark.parametrize("part", [{"a": 1}, [1], b"x", object()])
def test_a_structure_is_refused(part: Any) -> None:
    with pytest.raises(TypeError, match="cannot hash"):
        compute_args_hash("a", part)
