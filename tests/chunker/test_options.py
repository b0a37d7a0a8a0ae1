"""Parameters of documents and of operators."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.chunker.defaults import strategy_defaults
from lightrag.chunker.registry import CHUNKERS, STRATEGIES, chunk_options
from lightrag.exceptions import InputError
from lightrag.settings import Settings


@pytest.mark.parametrize(
    ("strategy", "params", "message"),
    [
        ("fixed_token", {"separators": ["\n"]}, "'separators' of strategy 'fixed_token'; allowed are"),
        (
            "semantic_vector",
            {"chunk_overlap_token_size": 5},
            "'chunk_overlap_token_size' of strategy 'semantic_vector'",
        ),
        ("paragraph_semantic", {"buffer_size": 1}, "'buffer_size' of strategy 'paragraph_semantic'"),
        ("by_feeling", {}, "unknown chunking strategy 'by_feeling'"),
        ("fixed_token", {"chunk_token_size": "800"}, "chunk_token_size '800' must be a whole number"),
        ("fixed_token", {"chunk_token_size": True}, "chunk_token_size True must be a whole number"),
        ("fixed_token", {"chunk_token_size": 800.0}, "chunk_token_size 800.0 must be a whole number"),
        ("fixed_token", {"chunk_overlap_token_size": "5"}, "chunk_overlap_token_size '5' must be a whole number"),
        ("fixed_token", {"split_by_character_only": 1}, "split_by_character_only 1 must be true or false"),
        ("fixed_token", {"split_by_character": 1}, "split_by_character 1 must be text"),
        ("fixed_token", {"chunk_token_size": 10, "chunk_overlap_token_size": 10}, "must be at least 0 and smaller"),
        ("recursive_character", {"separators": "ab"}, "separators 'ab' must be a list of texts"),
        ("recursive_character", {"separators": [1]}, "separators: entry 1 must be text"),
        ("recursive_character", {"separators": ["x"] * 65}, "separators has 65 entries; allowed are 64"),
        ("recursive_character", {"separators": ["x" * 257]}, "has 257 characters; allowed are 256"),
        ("semantic_vector", {"breakpoint_threshold_type": "median"}, "breakpoint_threshold_type 'median' is unknown"),
        ("semantic_vector", {"breakpoint_threshold_amount": 101}, "101 must be from 0 to 100 for 'percentile'"),
        ("semantic_vector", {"breakpoint_threshold_amount": "95"}, "breakpoint_threshold_amount '95' must be a number"),
        (
            "semantic_vector",
            {"breakpoint_threshold_type": "interquartile", "breakpoint_threshold_amount": -1},
            "-1 must be a number of at least 0",
        ),
        ("semantic_vector", {"buffer_size": 11}, "buffer_size 11 must be from 0 to 10"),
        ("paragraph_semantic", {"drop_references": "yes"}, "drop_references 'yes' must be true or false"),
    ],
)
def test_each_strategy_takes_only_its_own_parameters(strategy: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        chunk_options(params, strategy)
    assert message in str(caught.value)


def test_strategies() -> None:
    assert set(CHUNKERS) | {"semantic_vector", "custom"} == set(STRATEGIES)
    for strategy in STRATEGIES:
        chunk_options({}, strategy)


def test_a_value_of_none_takes_the_default() -> None:
    assert chunk_options({"chunk_token_size": None}, "fixed_token", {"chunk_token_size": 77}).chunk_token_size == 77
    assert chunk_options(None, "fixed_token").chunk_token_size == 1200


def test_what_the_document_asks_for_wins_and_other_defaults_are_passed_over() -> None:
    defaults = {"chunk_token_size": 500, "chunk_overlap_token_size": 50, "separators": ["|"]}
    options = chunk_options({"chunk_token_size": 300}, "fixed_token", defaults)
    assert (options.chunk_token_size, options.chunk_overlap_token_size, options.separators) == (300, 50, None)
    assert chunk_options({}, "recursive_character", defaults).separators == ("|",)


def test_an_overlap_nobody_asked_for_shrinks_with_the_chunk() -> None:
    defaults = {"chunk_token_size": 1200, "chunk_overlap_token_size": 100}
    assert chunk_options({"chunk_token_size": 60}, "fixed_token", defaults).chunk_overlap_token_size == 5
    assert chunk_options({"chunk_token_size": 60}, "fixed_token").chunk_overlap_token_size == 5
    with pytest.raises(InputError, match="chunk_overlap_token_size 100"):
        chunk_options({"chunk_token_size": 60, "chunk_overlap_token_size": 100}, "fixed_token")


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


def test_defaults_of_the_settings() -> None:
    plain = settings()
    assert strategy_defaults(plain, "fixed_token") == {"chunk_token_size": 1200, "chunk_overlap_token_size": 100}
    assert strategy_defaults(plain, "paragraph_semantic")["chunk_token_size"] == 2000
    assert strategy_defaults(plain, "custom") == {"chunk_token_size": 1200, "chunk_overlap_token_size": 100}
    for strategy in STRATEGIES:
        chunk_options({}, strategy, strategy_defaults(plain, strategy))


def test_settings_of_one_strategy() -> None:
    own = settings(
        chunk_f_size=300,
        chunk_f_overlap_size=0,
        chunk_f_split_by_character="|",
        chunk_r_size=400,
        chunk_r_separators='["\\n", " "]',
        chunk_v_breakpoint_threshold_type="interquartile",
        chunk_v_breakpoint_threshold_amount=2.5,
        chunk_v_buffer_size=3,
        chunk_v_sentence_split_regex=r"\n",
        chunk_p_size=0,
        chunk_p_drop_references=True,
    )
    fixed = chunk_options({}, "fixed_token", strategy_defaults(own, "fixed_token"))
    assert (fixed.chunk_token_size, fixed.chunk_overlap_token_size, fixed.split_by_character) == (300, 0, "|")
    recursive = chunk_options({}, "recursive_character", strategy_defaults(own, "recursive_character"))
    assert (recursive.chunk_token_size, recursive.separators) == (400, ("\n", " "))
    semantic = chunk_options({}, "semantic_vector", strategy_defaults(own, "semantic_vector"))
    assert (semantic.breakpoint_threshold_type, semantic.breakpoint_threshold_amount) == ("interquartile", 2.5)
    assert (semantic.buffer_size, semantic.sentence_split_regex) == (3, r"\n")
    paragraph = chunk_options({}, "paragraph_semantic", strategy_defaults(own, "paragraph_semantic"))
    assert (paragraph.chunk_token_size, paragraph.drop_references) == (1200, True)


@pytest.mark.parametrize("text", ["\\n", '"x"', "[1]", "{}"])
def test_separators_must_be_a_list(text: str) -> None:
    with pytest.raises(InputError, match="CHUNK_R_SEPARATORS"):
        strategy_defaults(settings(chunk_r_separators=text), "recursive_character")
