"""How callers say how documents are processed, and how it is stored."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.exceptions import InputError
from lightrag.ingest.options import ProcessOptions, options_of_call

STRATEGY_PARAMS: dict[str, dict[str, Any]] = {
    "fixed_token": {"split_by_character": "\n\n", "split_by_character_only": True},
    "recursive_character": {"separators": ["\n", " "], "chunk_overlap_token_size": 5},
    "semantic_vector": {"buffer_size": 2, "breakpoint_threshold_type": "gradient"},
    "paragraph_semantic": {"drop_references": True, "chunk_token_size": 90},
    "custom": {"chunk_token_size": 80},
}


@given(
    strategy=st.sampled_from([None, *STRATEGY_PARAMS]),
    skip=st.booleans(),
    vision=st.sampled_from(["", "i", "te", "ite"]),
    engine=st.sampled_from(["", "legacy", "native", "docling", "mineru"]),
    with_params=st.booleans(),
)
def test_what_is_stored_is_read_again(
    strategy: str | None, skip: bool, vision: str, engine: str, with_params: bool
) -> None:
    params = STRATEGY_PARAMS[strategy] if strategy else {"chunk_token_size": 70}
    chunking = {"strategy": strategy, "params": params} if strategy and with_params else None
    if strategy is None and with_params:
        chunking = {"params": params}
    letters = vision + ("!" if skip else "")
    if strategy and not with_params:
        letters += {"fixed_token": "F", "recursive_character": "R", "semantic_vector": "V", "custom": "C"}.get(
            strategy, "P"
        )
    options = ProcessOptions.of_call(letters, chunking, engine)
    assert ProcessOptions.from_row(options.to_row()) == options


@pytest.mark.parametrize("only", [True, False])
def test_a_text_to_cut_at_is_stored_as_the_published_package_stores_it(only: bool) -> None:
    options = ProcessOptions("\n", only)
    assert options.to_row() == {
        "chunk_options": {"fixed_token": {"split_by_character": "\n", "split_by_character_only": only}}
    }
    assert ProcessOptions.from_row(options.to_row()) == options


def test_usual_options_take_no_room() -> None:
    assert ProcessOptions().to_row() == {}
    assert ProcessOptions.of_call().to_row() == {}


def test_both_forms_of_chunk_options_are_the_same() -> None:
    ours = ProcessOptions.of_call(
        "", {"strategy": "recursive_character", "params": {"chunk_token_size": 9, "separators": ["x"]}}
    )
    theirs = ProcessOptions.of_call("R", {"chunk_token_size": 9, "recursive_character": {"separators": ["x"]}})
    assert ours == theirs
    assert ours.letters == "R"
    # A size of its own wins over that of all, and those of other strategies are not looked at.
    own = ProcessOptions.of_call(
        "F", {"chunk_token_size": 9, "fixed_token": {"chunk_token_size": 8}, "semantic_vector": {"buffer_size": 3}}
    )
    assert own.chunking == {"strategy": "fixed_token", "params": {"chunk_token_size": 8}}
    # A strategy without overlap is not troubled by one for all.
    vector = ProcessOptions.of_call("V", {"chunk_overlap_token_size": 9})
    assert vector.chunking == {"strategy": "semantic_vector", "params": {}}


def test_what_the_published_package_stores_is_read() -> None:
    row = {
        "content": "x",
        "process_options": "F!",
        "parse_engine": "legacy",
        "chunk_options": {
            "chunk_token_size": 1200,
            "fixed_token": {
                "split_by_character": None,
                "split_by_character_only": False,
                "chunk_overlap_token_size": 100,
            },
        },
    }
    options = ProcessOptions.from_row(row)
    assert options.skip_graph
    assert options.engine == "legacy"
    assert options.chunking == {
        "strategy": "fixed_token",
        "params": {"chunk_overlap_token_size": 100, "chunk_token_size": 1200, "split_by_character_only": False},
    }
    del row["process_options"]
    plain = ProcessOptions.from_row(row)
    assert plain.chunking == {"params": {"chunk_overlap_token_size": 100, "chunk_token_size": 1200}}
    assert plain.split_by_character is None
    # What is unknown, or contradicts itself, does not keep a document from being processed.
    odd = {"process_options": "FRzi!", "parse_engine": "new", "chunk_options": {"fixed_token": {"later": 1}, "x": {}}}
    assert ProcessOptions.from_row(odd) == ProcessOptions(
        chunking={"strategy": "fixed_token"}, skip_graph=True, vision="i"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"process_options": "Z"}, "unknown option 'Z'"),
        ({"process_options": "FR"}, "two chunking strategies"),
        ({"process_options": "F", "chunk_options": {"strategy": "custom"}}, "asks for 'fixed_token' and chunk_options"),
        ({"parse_engine": "nope"}, "parse_engine 'nope' is unknown; allowed are legacy, native, docling, mineru"),
        ({"parse_engine": ["legacy"]}, "parse_engine has 1 entries for 2 documents; give one for each"),
        ({"process_options": ["F", "R", "V"]}, "process_options has 3 entries for 2 documents"),
        ({"chunk_options": [{}]}, "chunk_options has 1 entries for 2 documents"),
        ({"chunk_options": {"strategy": "magic"}}, "unknown chunking strategy 'magic'"),
        ({"chunk_options": {"chunk_size": 3}}, "unknown chunking parameter 'chunk_size'"),
        ({"chunk_options": {"strategy": "custom", "size": 3}}, "unknown field 'size'; allowed are strategy and params"),
        ({"chunk_options": {"chunk_token_size": 0}}, "chunk_token_size 0 must be at least 1"),
        ({"chunk_options": [3, 4]}, "chunk_options 3 must be an object"),
    ],
)
def test_options_that_cannot_be_used(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        options_of_call(2, **given)


def test_options_for_each_document() -> None:
    options = options_of_call(2, process_options=["!", "R"], chunk_options=[{"chunk_token_size": 5}, {}])
    assert [one.letters for one in options] == ["!", "R"]
    assert options[0].chunking == {"params": {"chunk_token_size": 5}}
