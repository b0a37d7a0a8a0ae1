"""Extraction and keyword replies as models really write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightrag.ingest.replies import (
    EntityMention,
    ExtractionReply,
    RelationMention,
    parse_extraction_reply,
    parse_keywords_reply,
)
from tests.ending import ends

ALICE = EntityMention("Alice", "person", "Alice is a cook.")
BOB = EntityMention("Bob", "person", "Bob is a baker.")
FRIENDS = RelationMention("Alice", "Bob", ("friends", "trade"), "Alice and Bob trade bread.")

ROW_ALICE = "entity<|#|>Alice<|#|>Person<|#|>Alice is a cook."
ROW_BOB = "entity<|#|>Bob<|#|>Person<|#|>Bob is a baker."
ROW_FRIENDS = "relation<|#|>Alice<|#|>Bob<|#|>friends, trade<|#|>Alice and Bob trade bread."
END = "<|COMPLETE|>"
ROWS = "\n".join((ROW_ALICE, ROW_BOB, ROW_FRIENDS, END))

OBJECT = {
    "entities": [
        {"name": "Alice", "type": "Person", "description": "Alice is a cook."},
        {"name": "Bob", "type": "Person", "description": "Bob is a baker."},
    ],
    "relationships": [
        {
            "source": "Alice",
            "target": "Bob",
            "keywords": "friends, trade",
            "description": "Alice and Bob trade bread.",
        }
    ],
}


def check_whole(reply: ExtractionReply) -> None:
    assert reply.entities == [ALICE, BOB]
    assert reply.relations == [FRIENDS]
    assert reply.complete
    assert reply.usable
    assert not reply.cut_off


@pytest.mark.parametrize("text", [ROWS, json.dumps(OBJECT), json.dumps(OBJECT, indent=2)])
def test_a_clean_reply_has_no_warnings(text: str) -> None:
    reply = parse_extraction_reply(text)
    check_whole(reply)
    assert reply.warnings == []


@pytest.mark.parametrize("body", [ROWS, json.dumps(OBJECT, indent=1)], ids=["rows", "json"])
@pytest.mark.parametrize(
    "wrapping",
    [
        "<think>entity<|#|>Draft<|#|>x<|#|>Only a draft.</think>\n{}",
        "<think>\nHm.\n</think>{}",
        "First I look for names. Alice, Bob. Done. </think>\n{}",
        "<thinking>a</thinking>\n<think>b</think>\n{}",
        "```\n{}\n```",
        "```json\n{}\n```",
        "Here is what I found:\n\n{}\n\nI hope that this helps!",
        "<think>x</think>\n\nSure.\n```text\n{}\n```\nAnything else?",
    ],
)
def test_what_stands_around_a_reply_is_ignored(body: str, wrapping: str) -> None:
    check_whole(parse_extraction_reply(wrapping.replace("{}", body)))


@pytest.mark.parametrize(
    "delimiter",
    [
        "<|>",
        "<|#|",
        "<||>",
        "<|##|>",
        "<#>",
        "<#|>",
        "|#|>",
        " <| # |> ",
        "＜｜＃｜＞",
        "<｜#｜>",
        "<\\|#\\|>",
        "&lt;|#|&gt;",
    ],
)
def test_delimiter_variants_are_repaired_with_a_warning_per_row(delimiter: str) -> None:
    reply = parse_extraction_reply(ROWS.replace("<|#|>", delimiter))
    check_whole(reply)
    assert len(reply.warnings) in (0, 3)
    assert (not reply.warnings) == (delimiter.strip() in ("<|#|>", "&lt;|#|&gt;"))


@pytest.mark.parametrize(
    "form",
    [
        "- {}", "* {}", "• {}", "12. {}", "3) {}", "({})", '"{}"', "  {}", "| {} |",
    ],
)  # fmt: skip
def test_bullets_numbers_and_brackets_around_rows(form: str) -> None:
    rows = [form.replace("{}", row) for row in (ROW_ALICE, ROW_BOB, ROW_FRIENDS)]
    reply = parse_extraction_reply("\n".join([*rows, END]))
    assert [entity.name for entity in reply.entities] == ["Alice", "Bob"]
    assert [entity.description.rstrip('"') for entity in reply.entities] == [ALICE.description, BOB.description]
    assert [(relation.source, relation.target) for relation in reply.relations] == [("Alice", "Bob")]


@pytest.mark.parametrize("word", ["Entity", "ENTITY", "entities", '"entity"', "**entity**", "`entity`"])
def test_forms_of_the_kind(word: str) -> None:
    reply = parse_extraction_reply(ROWS.replace("entity", word))
    check_whole(reply)


def test_relationship_is_a_word_for_relation() -> None:
    check_whole(parse_extraction_reply(ROWS.replace("relation<", "relationship<")))


@pytest.mark.parametrize("joint", [" ", "", "##", " ; "])
def test_records_joined_on_one_line(joint: str) -> None:
    check_whole(parse_extraction_reply(joint.join((ROW_ALICE, ROW_BOB, ROW_FRIENDS)) + END))


def test_rows_in_parentheses_with_quotes_and_a_strength() -> None:
    reply = parse_extraction_reply(
        '("entity"<|>"ALICE"<|>"person"<|>"Alice is a cook (of fish)")##\n'
        '("relationship"<|>"ALICE"<|>"BOB"<|>"Alice and Bob trade bread."<|>"trade"<|>"0.8")##\n<|COMPLETE|>'
    )
    assert reply.entities == [EntityMention("ALICE", "person", "Alice is a cook (of fish)")]
    assert reply.relations == [RelationMention("ALICE", "BOB", ("trade",), "Alice and Bob trade bread.", 0.8)]


def test_windows_line_ends() -> None:
    check_whole(parse_extraction_reply(ROWS.replace("\n", "\r\n")))


def test_delimiters_of_a_program_stay_in_a_description() -> None:
    reply = parse_extraction_reply(f"entity<|#|>Parser<|#|>concept<|#|>Tries `a <|> b` and |> and ||.\n{END}")
    assert reply.entities == [EntityMention("Parser", "concept", "Tries `a <|> b` and |> and ||.")]
    assert reply.warnings == []


def test_a_kind_can_be_the_name_of_an_entity() -> None:
    reply = parse_extraction_reply(
        f"entity<|#|>Entity<|#|>concept<|#|>A thing in a relation <|#|>.\n"
        f"relation<|#|>Entity<|#|>Relation<|#|>node<|#|>An entity has relations.\n{END}"
    )
    assert [entity.name for entity in reply.entities] == ["Entity"]
    assert [(relation.source, relation.target) for relation in reply.relations] == [("Entity", "Relation")]


def test_surplus_fields_belong_to_the_description() -> None:
    reply = parse_extraction_reply(f"entity<|#|>A<|#|>t<|#|>one<|#|>two<|#|>three\n{END}")
    assert reply.entities == [EntityMention("A", "t", "one two three")]
    assert len(reply.warnings) == 1


@pytest.mark.parametrize(
    ("row", "entities", "relations"),
    [
        ("entity<|#|>A<|#|>person", [EntityMention("A", "person", "")], []),
        ("entity<|#|>A<|#|>A is a man.", [EntityMention("A", "UNKNOWN", "A is a man.")], []),
        ("entity<|#|>A", [], []),
        ("entity<|#|>", [], []),
        ("relation<|#|>A<|#|>B<|#|>love, war", [], [RelationMention("A", "B", ("love", "war"), "")]),
        ("relation<|#|>A<|#|>B<|#|>A met B.", [], [RelationMention("A", "B", (), "A met B.")]),
        ("relation<|#|>A<|#|>B", [], []),
        ("relation<|#|>A<|#|>A<|#|>self<|#|>A is A.", [], []),
        ("relation<|#|>A<|#|> A <|#|>self<|#|>A is A.", [], []),
        ("relation<|#|>A<|#|><|#|>x<|#|>y.", [], []),
        ("relation<|#|>A<|#|>B<|#|><|#|>", [], []),
        ("entity<|#|><|#|>person<|#|>Nobody.", [], []),
        ("event<|#|>A<|#|>B<|#|>C.", [], []),
        ("content_keywords<|#|>love, war<|#|>x", [], []),
    ],
)
def test_wrong_rows_cost_one_warning_and_nothing_else(
    row: str, entities: list[EntityMention], relations: list[RelationMention]
) -> None:
    reply = parse_extraction_reply("\n".join((ROW_ALICE, row, ROW_BOB, ROW_FRIENDS, END)))
    assert reply.entities == [ALICE, *entities, BOB]
    assert reply.relations == [*relations, FRIENDS]
    assert len(reply.warnings) == 1
    assert reply.complete


def test_a_row_broken_over_lines() -> None:
    reply = parse_extraction_reply(
        f"entity<|#|>Alice<|#|>Person\n<|#|>Alice is\na cook.\n{ROW_BOB}\n{ROW_FRIENDS}\n{END}"
    )
    check_whole(reply)


def test_html_entities_control_characters_and_separators_are_cleaned() -> None:
    reply = parse_extraction_reply(f"entity<|#|>A&amp;B\x00<|#|>org<|#|>Tom &amp; Co<SEP>\x1fnext\ud800.\n{END}")
    assert reply.entities == [EntityMention("A&B", "org", "Tom & Co next.")]


def test_custom_delimiters() -> None:
    reply = parse_extraction_reply("entity@@A@@t@@d e.\nDONE!", tuple_delimiter="@@", completion_delimiter="DONE!")
    assert reply.entities == [EntityMention("A", "t", "d e.")]
    assert reply.complete


# --- ends ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "end", ["<|COMPLETE|>", "<|COMPLETE|", "<COMPLETE>", "<|complete|>", "COMPLETE", "＜｜COMPLETE｜＞"]
)
def test_completion_markers(end: str) -> None:
    reply = parse_extraction_reply("\n".join((ROW_ALICE, end)))
    assert reply.complete
    assert reply.entities == [ALICE]


def test_marker_alone_is_whole_and_empty() -> None:
    reply = parse_extraction_reply("<|COMPLETE|>\n")
    assert (reply.complete, reply.usable, reply.entities, reply.relations) == (True, True, [], [])


@pytest.mark.parametrize(
    "text",
    ['{"entities":[],"relationships":[]}', '```json\n{"relationships": [], "entities": []}\n```', '{"entities": []}'],
)
def test_empty_json_is_whole_and_empty(text: str) -> None:
    reply = parse_extraction_reply(text)
    assert (reply.complete, reply.usable, reply.entities, reply.warnings) == (True, True, [], [])


@pytest.mark.parametrize(
    "text",
    ["", " \n", "I could not find any entities.", "[]", "{}", "null", "def f():\n    return {}", "entity: Alice"],
)
def test_replies_without_a_record_are_not_usable(text: str) -> None:
    reply = parse_extraction_reply(text)
    assert not reply.usable
    assert not reply.complete
    assert reply.warnings


def test_only_broken_rows_are_not_usable() -> None:
    assert not parse_extraction_reply("entity<|#|>A\nrelation<|#|>B\n<|COMPLETE|>").usable


def test_no_marker_and_whole_rows_is_neither_complete_nor_cut_off() -> None:
    reply = parse_extraction_reply("\n".join((ROW_ALICE, ROW_BOB, ROW_FRIENDS)))
    assert (reply.complete, reply.cut_off, reply.usable) == (False, False, True)
    assert reply.relations == [FRIENDS]


@pytest.mark.parametrize("length", range(len(ROW_FRIENDS) - 1))
def test_a_cut_last_row_is_dropped_wherever_the_cut_is(length: int) -> None:
    reply = parse_extraction_reply("\n".join((ROW_ALICE, ROW_BOB, ROW_FRIENDS[:length])))
    assert reply.entities[0] == ALICE
    assert reply.relations == []
    assert not reply.complete


@pytest.mark.parametrize("length", range(1, len(json.dumps(OBJECT)) - 1))
def test_cut_json_keeps_the_whole_records(length: int) -> None:
    text = json.dumps(OBJECT)
    reply = parse_extraction_reply(text[:length])
    whole_records = text[:length].count("}")
    assert len(reply.entities) + len(reply.relations) == whole_records
    assert reply.entities == [ALICE, BOB][: len(reply.entities)]
    assert not reply.complete


def test_unclosed_reasoning_is_cut_off() -> None:
    reply = parse_extraction_reply(f"<think>I would write\n{ROWS}")
    assert reply.cut_off
    assert not reply.complete
    assert reply.entities == [ALICE, BOB]


def test_reasoning_that_is_mentioned_in_a_row_stays() -> None:
    row = "entity<|#|>Model<|#|>artifact<|#|>The model ends its reasoning with </think> and begins it with <think>."
    reply = parse_extraction_reply("\n".join((ROW_ALICE, row, END)))
    assert [entity.name for entity in reply.entities] == ["Alice", "Model"]
    assert reply.entities[1].description.endswith("</think> and begins it with <think>.")


def test_records_inside_the_reasoning_only() -> None:
    reply = parse_extraction_reply(f"<think>\n{ROWS}\n</think>\n")
    check_whole(reply)
    assert len(reply.warnings) == 1


# --- JSON ---------------------------------------------------------------------------------------------------------


def test_the_long_keys() -> None:
    text = json.dumps(
        {
            "entities": [
                {"entity_name": "Alice", "entity_type": "Person", "entity_description": "Alice is a cook."},
                {"Entity Name": "Bob", "Entity-Type": "Person", "entity_description": "Bob is a baker."},
            ],
            "relationships": [
                {
                    "source_entity": "Alice",
                    "target_entity": "Bob",
                    "relationship_keywords": ["friends", "trade"],
                    "relationship_description": "Alice and Bob trade bread.",
                }
            ],
        }
    )
    check_whole(parse_extraction_reply(text))


@pytest.mark.parametrize(
    "value",
    [
        {"result": {"data": OBJECT}},
        [OBJECT],
        [*OBJECT["entities"], *OBJECT["relationships"]],
        {"nodes": OBJECT["entities"], "edges": OBJECT["relationships"]},
        {
            "entities": {"Alice": {"type": "Person", "description": "Alice is a cook."}, "Bob": OBJECT["entities"][1]},
            "relationships": OBJECT["relationships"],
        },
        {
            "entities": [["Alice", "Person", "Alice is a cook."], ["Bob", "Person", "Bob is a baker."]],
            "relations": [["Alice", "Bob", ["friends", "trade"], "Alice and Bob trade bread."]],
        },
    ],
)
def test_other_shapes(value: object) -> None:
    check_whole(parse_extraction_reply(json.dumps(value)))


def test_one_object_per_line() -> None:
    lines = "\n".join(json.dumps(record) for record in (*OBJECT["entities"], *OBJECT["relationships"]))
    check_whole(parse_extraction_reply(lines))


@pytest.mark.parametrize(
    ("weight", "expected"), [("0.8", 0.8), (3, 3.0), ("high", 1.0), (-1, 1.0), (None, 1.0), ("nan", 1.0)]
)
def test_weights(weight: object, expected: float) -> None:
    record = {**OBJECT["relationships"][0], "weight": weight}
    reply = parse_extraction_reply(json.dumps({"relationships": [record]}))
    assert reply.relations[0].weight == expected


def test_latex_code_and_paths_in_json() -> None:
    text = r"""{"entities": [
      {"name": "Euler's identity", "type": "concept",
       "description": "States $e^{i\pi}+1=0$ with \frac{1}{2}, \beta, \theta, \nabla, \rho and {\"k\": [1]}.\nShort."},
      {"name": "Config", "type": "artifact", "description": "Lies in C:\Users\x and \\server\share."}],
      "relationships": []}"""
    reply = parse_extraction_reply(text)
    assert reply.complete
    assert reply.entities[0].description == (
        r"States $e^{i\pi}+1=0$ with \frac{1}{2}, \beta, \theta, \nabla, \rho and {" + '"k": [1]}. Short.'
    )
    assert reply.entities[1].description == r"Lies in C:\Users\x and \server\share."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"name": "Bob",', '"name": "Bob"'),
        ('"Bob is a baker."', '"Bob is a "baker"."'),
        ('"Bob is a baker."}', '"Bob is a baker.",}'),
        ('{"name": "Bob"', "{name: 'Bob'"),
        ('"type": "Person", "description": "Bob', '"type": , "description": "Bob'),
    ],
)
def test_damage_to_one_json_record_costs_that_one_at_most(old: str, new: str) -> None:
    text = json.dumps(OBJECT)
    assert old in text
    reply = parse_extraction_reply(text.replace(old, new))
    assert reply.entities[0] == ALICE
    assert reply.relations == [FRIENDS]
    assert reply.complete
    assert reply.warnings


def test_rows_are_understood_where_json_was_asked_for_and_the_other_way_round() -> None:
    quoted = ROWS.replace("Alice is a cook.", 'Alice is a cook with {"name": "x"}.')
    reply = parse_extraction_reply(quoted)
    assert [entity.name for entity in reply.entities] == ["Alice", "Bob"]
    record = {"name": "Format", "type": "concept", "description": f"A line such as {ROW_ALICE}\n{ROW_BOB}."}
    reply = parse_extraction_reply(json.dumps({"entities": [record]}))
    assert [entity.name for entity in reply.entities] == ["Format"]


# --- any text -----------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "entity", "relation", "<|#|>", "<|>", "|#|", "<|COMPLETE|>", "\n", "\r\n", "{", "}", "[", "]", '"', ",", ":",
        "\\",
        "<think>", "</think>", "```", "```json", "entities", "relationships", '"name":', '"source":', '"target":', " ",
        "(",
        "##", "Alice", "é", "\ud800", "\x00", "\u2028", "0.8", "null", "'", "|", "<", ">", "&lt;", "\\u12", "1. ", "- ",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join)))
def test_no_text_raises(text: str) -> None:
    reply = parse_extraction_reply(text)
    for entity in reply.entities:
        assert entity.name
    for relation in reply.relations:
        assert relation.source != relation.target
        assert relation.weight > 0
    assert not (reply.complete and reply.cut_off)
    assert reply.usable or reply.warnings
    high, low = parse_keywords_reply(text)
    assert all(high)
    assert all(low)


NAME = st.text(st.characters(categories=["L", "N"]), min_size=2, max_size=12).map(lambda name: f"N{name}x")
WORDS = st.lists(st.sampled_from(["the", "old", "clock", "stood", "at", "Verrall", "5", "α"]), min_size=3, max_size=8)


@st.composite
def rows(draw: st.DrawFn) -> list[str]:
    lines = []
    for number in range(draw(st.integers(3, 8))):
        name, text = draw(NAME), " ".join(draw(WORDS))
        if draw(st.booleans()):
            lines.append(f"entity<|#|>{name}{number}<|#|>thing<|#|>{text}.")
        else:
            lines.append(f"relation<|#|>{name}{number}<|#|>{name}b<|#|>kind<|#|>{text}.")
    return lines


def records_of(text: str) -> list[EntityMention | RelationMention]:
    reply = parse_extraction_reply(text)
    return [*reply.entities, *reply.relations]


@settings(max_examples=300, deadline=None)
@given(rows(), st.data())
def test_a_damaged_row_costs_no_other_row(lines: list[str], data: st.DataObject) -> None:
    touched = data.draw(st.integers(0, len(lines) - 1))
    line = lines[touched]
    start = data.draw(st.integers(0, len(line) - 1))
    length = data.draw(st.integers(1, 6))
    # No "<think>": what follows an opening that is never closed is thought, by the rule that has its own tests.
    insert = data.draw(st.sampled_from(["", "<|#|>", "<|", "#", " ", "\\", '"', "}", "(", "relation", "|", "x"]))
    damaged = line[:start] + insert + line[start + length :]
    text = "\n".join([*lines[:touched], damaged, *lines[touched + 1 :], END])
    untouched = [
        record for number, other in enumerate(lines) if number != touched for record in records_of(f"{other}\n{END}")
    ]
    found = records_of(text)
    for record in untouched:
        assert record in found


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 5), st.data())
def test_a_damaged_json_record_costs_no_other_record(touched: int, data: st.DataObject) -> None:
    names = [f"Name{number}" for number in range(6)]
    records = [json.dumps({"name": name, "type": "t", "description": f"{name} is a thing."}) for name in names]
    line = records[touched]
    start = data.draw(st.integers(1, len(line) - 2))
    length = data.draw(st.integers(1, min(4, len(line) - 1 - start)))
    insert = data.draw(st.sampled_from(["", '"', "\\", ",", ":", "'", "x", "\n"]))
    records[touched] = line[:start] + insert + line[start + length :]
    reply = parse_extraction_reply('{"entities": [' + ", ".join(records) + '], "relationships": []}')
    found = {entity.name for entity in reply.entities}
    assert found >= {name for number, name in enumerate(names) if number != touched}


@pytest.mark.parametrize(
    "text",
    [
        "entity<|#|>A<|#|>t<|#|>" + "word " * 60_000,
        "<|#|>" * 60_000,
        "entity<|#|>" * 30_000,
        "<" * 300_000,
        " " * 300_000 + "x",
        "{" * 100_000,
        '{"entities": [' + '{"name": "A", ' * 15_000,
        '{"entities": [{"name": "' + "x\\" * 100_000,
        "</think>" * 40_000,
        "<think>\n" * 40_000,
        "entity<|#|>A<|#|>t<|#|>d\n" + "more words\n" * 30_000,
    ],
    ids=range(11),
)
def test_long_and_hostile_replies_do_not_cost_their_square(text: str) -> None:
    with ends():
        parse_extraction_reply(text)


# --- keywords -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        '{"high_level_keywords": ["trade", "war"], "low_level_keywords": ["Velmouth"]}',
        '```json\n{"high_level_keywords": ["trade", "war"], "low_level_keywords": ["Velmouth"]}\n```',
        '<think>{"high_level_keywords": []}</think>{"high_level_keywords": ["trade", "war"], "low": ["Velmouth"]}',
        'Sure: {"high-level keywords": "trade, war", "Low Level": ["Velmouth", "velmouth"]} Bye.',
        '{"keywords": {"high_level_keywords": ["trade", "war"], "low_level_keywords": ["Velmouth"]}}',
        '{"high_level_keywords": ["trade", "war"], "low_level_keywords": ["Velmouth"',
        "{'high_level_keywords': ['trade', 'war'], 'low_level_keywords': ['Velmouth']}",
        "High-level keywords: trade, war\nLow-level keywords: Velmouth",
        "**High level**: trade; war\n- **Low level**: Velmouth",
    ],
)
def test_keyword_replies(reply: str) -> None:
    assert parse_keywords_reply(reply) == (["trade", "war"], ["Velmouth"])


@pytest.mark.parametrize(
    "reply", ["", "no idea", "{}", "[]", '{"high_level_keywords": [], "low_level_keywords": null}', "{"]
)
def test_no_keywords(reply: str) -> None:
    assert parse_keywords_reply(reply) == ([], [])
