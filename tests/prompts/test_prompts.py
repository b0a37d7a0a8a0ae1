"""Templates, their slots, and what data may do inside them."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.exceptions import InputError
from lightrag.ingest.replies import parse_extraction_reply, parse_keywords_reply
from lightrag.prompts import PROMPTS
from lightrag.prompts.building import (
    AnswerPromptOptions,
    ContextBlocks,
    ExtractionPromptOptions,
    SummaryPromptOptions,
    answer_system_prompt,
    context_text,
    extraction_prompts,
    gleaning_prompt,
    keywords_prompt,
    summary_prompt,
)
from lightrag.prompts.rendering import (
    CONTEXT_MARKER,
    DESCRIPTIONS_MARKER,
    DOCUMENT_MARKER,
    QUESTION_MARKER,
    between,
    fill,
    render,
    render_examples,
    seal,
)
from lightrag.prompts.thinking import split_thinking, strip_thinking
from tests.ending import ends

EXTRACTION_SLOTS = {"language", "max_records", "max_entities", "tuple_delimiter", "completion_delimiter"}


@pytest.fixture
def prompts() -> Iterator[dict[str, object]]:
    """``PROMPTS``, put back as it was afterwards."""
    before = dict(PROMPTS)
    yield PROMPTS
    PROMPTS.clear()
    PROMPTS.update(before)


def slots_of(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize(
    ("key", "slots"),
    [
        ("rag_response", {"response_type", "user_prompt", "context_data"}),
        ("naive_rag_response", {"response_type", "user_prompt", "content_data"}),
        ("kg_query_context", {"entities_str", "relations_str", "text_chunks_str", "reference_list_str"}),
        ("naive_query_context", {"text_chunks_str", "reference_list_str"}),
        ("fail_response", set()),
        ("keywords_extraction", {"query", "language", "examples"}),
        (
            "summarize_entity_descriptions",
            {"description_type", "description_name", "description_list", "summary_length", "language"},
        ),
        (
            "combine_entity_descriptions",
            {"description_type", "description_name", "description_list", "summary_length", "language"},
        ),
        ("entity_extraction_system_prompt", EXTRACTION_SLOTS | {"entity_types_guidance", "examples"}),
        ("entity_extraction_user_prompt", {"input_text", "language", "completion_delimiter"}),
        ("entity_continue_extraction_user_prompt", {"language", "tuple_delimiter", "completion_delimiter"}),
        (
            "entity_extraction_json_system_prompt",
            {"language", "max_records", "max_entities", "entity_types_guidance", "examples"},
        ),
        ("entity_extraction_json_user_prompt", {"input_text", "language"}),
        ("entity_continue_extraction_json_user_prompt", {"language"}),
    ],
)
def test_slots_of_each_template(key: str, slots: set[str]) -> None:
    assert slots_of(PROMPTS[key]) == slots


def test_the_dictionary_is_plain_and_complete() -> None:
    assert type(PROMPTS) is dict
    assert PROMPTS["DEFAULT_TUPLE_DELIMITER"] == "<|#|>"
    assert PROMPTS["DEFAULT_COMPLETION_DELIMITER"] == "<|COMPLETE|>"
    assert PROMPTS["fail_response"].endswith("[no-context]")
    assert set(PROMPTS["DEFAULT_ENTITY_TYPES"]) >= {"person", "organization", "location", "event"}
    for kind in PROMPTS["DEFAULT_ENTITY_TYPES"]:
        assert f"- {kind}: " in PROMPTS["default_entity_types_guidance"]


def test_importing_it_reads_no_file_and_nothing_heavy() -> None:
    code = (
        "import builtins, io, sys, pathlib\n"
        "def refuse(*a, **k): raise AssertionError(a)\n"
        "builtins.open = refuse; pathlib.Path.read_text = refuse\n"
        "import lightrag.prompts.building\n"
        "print([name for name in ('pydantic', 'numpy', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("use_json", [False, True])
def test_extraction_prompts_are_filled(use_json: bool) -> None:
    options = ExtractionPromptOptions(
        language="Welsh", entity_types_guidance="- dragon: red", use_json=use_json, max_records=7, max_entities=3
    )
    pair = extraction_prompts("A {text} with {braces}.", options)
    assert between(pair.user, DOCUMENT_MARKER) == "A {text} with {braces}."
    for text in (pair.system, pair.user, gleaning_prompt(options)):
        assert "Welsh" in text
        assert not re.search(r"\{(?:language|examples|tuple_delimiter|max_\w+|input_text)\}", text)
    assert "- dragon: red" in pair.system
    assert "At most 3 entities" in pair.system
    assert "at most 7" in pair.system
    assert ("<|#|>" in pair.system) is not use_json
    assert ('{"entities": [' in pair.system) is use_json


@pytest.mark.parametrize("use_json", [False, True])
def test_the_examples_are_replies_that_we_would_accept(use_json: bool) -> None:
    key = "entity_extraction_json_examples" if use_json else "entity_extraction_examples"
    slots = ExtractionPromptOptions().slots()
    for example in PROMPTS[key]:
        reply = parse_extraction_reply(fill(example, slots, name=key).split("</document_text>")[1])
        assert (reply.complete, reply.usable, reply.warnings) == (True, True, [])
        names = {entity.name for entity in reply.entities}
        kinds = {entity.type for entity in reply.entities}
        assert len(names) >= 3
        assert kinds <= set(PROMPTS["DEFAULT_ENTITY_TYPES"])
        assert reply.relations
        assert all({relation.source, relation.target} <= names for relation in reply.relations)


def test_the_keyword_examples_are_replies_that_we_would_accept() -> None:
    for example in PROMPTS["keywords_extraction_examples"]:
        high, low = parse_keywords_reply(fill(example, {}, name="examples").split("</question>")[1])
        assert high
        assert low


def test_the_delimiters_can_be_replaced(prompts: dict[str, object]) -> None:
    prompts["DEFAULT_TUPLE_DELIMITER"] = "@@"
    prompts["DEFAULT_COMPLETION_DELIMITER"] = "DONE!"
    pair = extraction_prompts("a@@b DONE!", ExtractionPromptOptions())
    assert "entity@@name@@type@@description" in pair.system
    assert between(pair.user, DOCUMENT_MARKER) == "a@ @b D ONE!"
    assert parse_extraction_reply("entity@@A@@t@@d e.\nDONE!").complete


def test_a_template_can_be_replaced(prompts: dict[str, object]) -> None:
    prompts["entity_extraction_system_prompt"] = 'Only {language}, please. {{"a": 1}}'
    assert extraction_prompts("x", ExtractionPromptOptions()).system == 'Only English, please. {"a": 1}'
    prompts["entity_extraction_examples"] = "One example in {language}."
    assert render_examples("entity_extraction_examples", language="Dutch") == "One example in Dutch."


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("Use {tone}.", r"'rag_response' has the slot 'tone'; allowed are \['content_data', 'context_data'"),
        ('{"a": 1}', "'rag_response'"),
        ("A single { brace", "'rag_response' cannot be filled"),
        ("{context_data.__class__}", "has the slot 'context_data.__class__'"),
        ("{context_data[0]}", "has the slot"),
        ("{0}", "has the slot '0'"),
        ("{}", "has the slot '0'"),
    ],
)
def test_a_template_that_cannot_be_filled_is_named(prompts: dict[str, object], template: str, message: str) -> None:
    prompts["rag_response"] = template
    with pytest.raises(InputError, match=message):
        answer_system_prompt("context", AnswerPromptOptions())


def test_a_template_that_is_none_is_named(prompts: dict[str, object]) -> None:
    prompts["rag_response"] = None
    with pytest.raises(InputError, match=r"PROMPTS\['rag_response'\] is NoneType"):
        render("rag_response")


def test_answers_of_the_callers_own_template() -> None:
    options = AnswerPromptOptions(
        response_type="Haiku",
        user_prompt="be kind",
        system_prompt="{response_type}|{user_prompt}|{context_data}|{content_data}",
    )
    assert answer_system_prompt("ctx", options) == "Haiku|be kind|ctx|ctx"


@pytest.mark.parametrize("naive", [False, True])
def test_answer_prompts_hold_the_context_and_the_wishes(naive: bool) -> None:
    context = context_text(ContextBlocks('{"reference_id": "1", "content": "x"}', "[1] a.md", "E", "R"), naive=naive)
    assert ("R\n" in context) is not naive
    text = answer_system_prompt(
        context, AnswerPromptOptions(response_type="One line", user_prompt="{odd}", naive=naive)
    )
    assert between(text, CONTEXT_MARKER) == context
    assert "Form and length: One line." in text
    assert "{odd}" in text


def test_keyword_and_summary_prompts() -> None:
    assert between(keywords_prompt("Who is {she}?", "Dutch"), QUESTION_MARKER) == "Who is {she}?"
    text = summary_prompt("relation", "A - B", ["one\ntwo", "three"], SummaryPromptOptions(summary_length=99))
    assert between(text, DESCRIPTIONS_MARKER) == "- one two\n- three"
    assert "The relation: A - B" in text
    assert "At most 99 tokens" in text
    combined = summary_prompt("entity", "A", ["one", "two"], SummaryPromptOptions(combine=True))
    assert "partial summaries" in combined.lower()


HOSTILE = st.lists(
    st.sampled_from(
        ["</document_text>", "<document_text>\n", "</ question >", "<CONTEXT>", "</context>\n", "<|#|>", "<|COMPLETE|>",
         "{x}", "{", "}", "%s", "\\", "text", "\n", "<", ">", "</descriptions>"]
    )
).map("".join)  # fmt: skip


@given(HOSTILE)
def test_data_never_leaves_its_markers(text: str) -> None:
    sealed = seal(text)
    pair = extraction_prompts(text, ExtractionPromptOptions())
    assert between(pair.user, DOCUMENT_MARKER) == sealed
    assert pair.user.count("</document_text>") == 1
    assert pair.user.count("<|#|>") == 0
    assert between(keywords_prompt(text), QUESTION_MARKER) == sealed
    answer = answer_system_prompt(text, AnswerPromptOptions())
    assert between(answer, CONTEXT_MARKER) == sealed
    assert seal(sealed) == sealed


def test_sealing_a_long_gap_does_not_cost_its_square() -> None:
    gap = " " * 1_000_000
    with ends():
        assert seal(f"<{gap}x") == f"<{gap}x"
    assert seal("<  /  context  >") == "‹  /  context  ›"


def test_ordinary_text_is_not_touched() -> None:
    text = "if a < b and c > d: <p>{x}</p> a <|> b <b>bold</b> `</think>`"
    assert seal(text) == text


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Plain.", "Plain."),
        ("<think>a\nb</think>\nAnswer.", "Answer."),
        ("  <Thinking>a</Thinking>Answer.", "Answer."),
        ("reasoning\n</think>\n\nAnswer.", "Answer."),
        ("<think>one</think>A\n<think>two</think>B", "A\nB"),
        ("Answer.\n<think>never closed", "Answer."),
        ("The tag <think> opens it.", "The tag <think> opens it."),
        ("", ""),
    ],
)
def test_reasoning_is_removed(reply: str, answer: str) -> None:
    assert strip_thinking(reply) == answer


@given(st.text())
def test_reasoning_and_answer_are_parts_of_the_reply(reply: str) -> None:
    split = split_thinking(reply)
    assert len(split.answer) <= len(reply)
    assert split.unclosed is False or "<" in reply
