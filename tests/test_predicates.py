"""The predicate tree: evaluation, normal form, canonical key, relaxation, compilation."""

from collections.abc import Sequence
from typing import Any

import pytest

from lightrag.exceptions import FilterSyntaxError, UnsupportedFilterError
from lightrag.predicates import (
    FIELDS,
    MATCH_ALL,
    MATCH_NONE,
    Always,
    And,
    Compare,
    Compiler,
    Contains,
    ContainsAll,
    ContainsAny,
    FieldKind,
    In,
    Not,
    Operator,
    Or,
    Predicate,
    Under,
    canonical_key,
    evaluate,
    fields_of,
    normalise,
    relax,
)

EQ, LT, LE, GT, GE = Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE
A = Contains("filter_tags", "a")
B = Contains("filter_tags", "b")
DATED = Compare("filter_dated", EQ, True)


class TestEvaluation:
    @pytest.mark.parametrize(
        ("leaf", "row", "expected"),
        [
            (DATED, {"filter_dated": True}, True),
            (DATED, {"filter_dated": 1}, False),
            (Compare("filter_start_ms", EQ, 1), {"filter_start_ms": 1}, True),
            (Compare("filter_start_ms", EQ, 1), {"filter_start_ms": True}, False),
            (Compare("filter_start_ms", EQ, 1), {"filter_start_ms": "1"}, False),
            (Compare("filter_start_ms", LT, 1), {"filter_start_ms": 0}, True),
            (Compare("filter_start_ms", LT, 1), {"filter_start_ms": 1}, False),
            (Compare("filter_start_ms", LE, 1), {"filter_start_ms": 1}, True),
            (Compare("filter_start_ms", LE, 1), {"filter_start_ms": 2}, False),
            (Compare("filter_start_ms", GT, 1), {"filter_start_ms": 2}, True),
            (Compare("filter_start_ms", GT, 1), {"filter_start_ms": 1}, False),
            (Compare("filter_start_ms", GE, 1), {"filter_start_ms": 1}, True),
            (Compare("filter_start_ms", GE, 1), {"filter_start_ms": 0}, False),
            (In("doc_type", ("pdf", "note")), {"doc_type": "note"}, True),
            (In("doc_type", ("pdf", "note")), {"doc_type": "not"}, False),
            (In("doc_type", ()), {"doc_type": "note"}, False),
            (A, {"filter_tags": ["b", "a"]}, True),
            (A, {"filter_tags": ["ab"]}, False),
            (A, {"filter_tags": "a"}, False),
            (ContainsAny("filter_tags", ("a", "c")), {"filter_tags": ("b", "a")}, True),
            (ContainsAny("filter_tags", ("a", "c")), {"filter_tags": []}, False),
            (ContainsAny("filter_tags", ()), {"filter_tags": ["a"]}, False),
            (ContainsAll("filter_tags", ("a", "b")), {"filter_tags": {"a", "b", "c"}}, True),
            (ContainsAll("filter_tags", ("a", "b")), {"filter_tags": ["a"]}, False),
            (ContainsAll("filter_tags", ()), {}, True),
            (Under("source_path", "a/b"), {"source_path": "a/b/c"}, True),
            (Under("source_path", "a/b"), {"source_path": "a/b"}, True),
            (Under("source_path", "a/b"), {"source_path": "a/bc"}, False),
        ],
    )
    def test_leaves(self, leaf: Predicate, row: dict[str, Any], expected: bool) -> None:
        assert evaluate(leaf, row) is expected
        assert evaluate(Not(leaf), row) is not expected

    @pytest.mark.parametrize("row", [{}, {"filter_tags": None, "doc_type": None, "modified_at": None}])
    @pytest.mark.parametrize(
        "leaf", [A, In("doc_type", ("x",)), Compare("modified_at", LE, 5), Under("source_path", "a"), DATED]
    )
    def test_a_missing_field_fails_every_comparison_and_passes_its_complement(
        self, leaf: Predicate, row: dict[str, Any]
    ) -> None:
        assert not evaluate(leaf, row)
        assert evaluate(~leaf, row)

    def test_connectives(self) -> None:
        row = {"filter_tags": ["a"]}
        assert evaluate(A | B, row)
        assert not evaluate(A & B, row)
        assert evaluate(A & ~B, row)
        assert evaluate(And(()), row)
        assert not evaluate(Or(()), row)
        assert evaluate(MATCH_ALL, row)
        assert not evaluate(MATCH_NONE, row)


class TestConstruction:
    @pytest.mark.parametrize(
        "build",
        [
            lambda: Compare("author' = 'x' OR '1'='1' --", EQ, "x"),
            lambda: Contains("tags", "a"),
            lambda: Compare("filter_tags", EQ, "a"),
            lambda: Compare("doc_type", LT, "a"),
            lambda: Compare("doc_type", EQ, 1),
            lambda: Compare("modified_at", EQ, True),
            lambda: Compare("modified_at", LE, "1"),
            lambda: Compare("modified_at", LE, 1.5),  # type: ignore[arg-type]
            lambda: Compare("filter_dated", EQ, 1),
            lambda: Compare("doc_type", Operator.IN, "x"),
            lambda: In("filter_tags", ("a",)),
            lambda: In("modified_at", (1, "2")),
            lambda: Contains("doc_type", "a"),
            lambda: ContainsAny("filter_tags", ("a", 1)),  # type: ignore[arg-type]
            lambda: ContainsAll("source_path", ("a",)),
            lambda: Under("doc_type", "a"),
            lambda: Under("source_path", ""),
            lambda: Under("source_path", "/a"),
            lambda: Under("source_path", "a/"),
        ],
    )
    def test_what_could_never_be_evaluated_is_refused(self, build: Any) -> None:
        with pytest.raises(FilterSyntaxError):
            build()

    def test_messages_say_what_was_allowed(self) -> None:
        with pytest.raises(FilterSyntaxError, match="unknown filter field 'x'; allowed are filter_tags, "):
            Contains("x", "a")
        with pytest.raises(FilterSyntaxError, match=r"'lt' does not apply to 'doc_type' \(text\); only to integer"):
            Compare("doc_type", LT, "a")
        with pytest.raises(FilterSyntaxError, match="'modified_at' is compared with int, not with '1'"):
            Compare("modified_at", LE, "1")

    def test_predicates_are_values(self) -> None:
        assert Contains("filter_tags", "a") == A
        assert len({A, Contains("filter_tags", "a"), B}) == 2


class TestNormalForm:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (And(()), MATCH_ALL),
            (Or(()), MATCH_NONE),
            (Not(MATCH_ALL), MATCH_NONE),
            (Not(Not(A)), A),
            (And((A,)), A),
            (And((A, MATCH_ALL)), A),
            (And((A, MATCH_NONE)), MATCH_NONE),
            (Or((A, MATCH_NONE)), A),
            (Or((A, MATCH_ALL)), MATCH_ALL),
            (And((B, And((A, B)))), And((A, B))),
            (Or((B, Or((A, B)))), Or((A, B))),
            (Not(And((A, B))), Or((Not(A), Not(B)))),
            (Not(Or((A, B))), And((Not(A), Not(B)))),
            (And((A, Not(A))), MATCH_NONE),
            (Or((A, Not(A))), MATCH_ALL),
            (In("doc_type", ()), MATCH_NONE),
            (Not(In("doc_type", ())), MATCH_ALL),
            (In("doc_type", ("x", "x")), Compare("doc_type", EQ, "x")),
            (In("doc_type", ("y", "x")), In("doc_type", ("x", "y"))),
            (ContainsAny("filter_tags", ()), MATCH_NONE),
            (Not(ContainsAny("filter_tags", ())), MATCH_ALL),
            (ContainsAll("filter_tags", ()), MATCH_ALL),
            (ContainsAny("filter_tags", ("a",)), A),
            (ContainsAll("filter_tags", ("a", "a")), A),
            (ContainsAll("filter_tags", ("b", "a")), ContainsAll("filter_tags", ("a", "b"))),
        ],
    )
    def test_folding(self, given: Predicate, expected: Predicate) -> None:
        assert normalise(given) == expected

    def test_keys_tell_different_predicates_apart(self) -> None:
        different = [
            MATCH_ALL,
            MATCH_NONE,
            A,
            Not(A),
            A & B,
            A | B,
            ContainsAny("filter_tags", ("a", "b")),
            ContainsAll("filter_tags", ("a", "b")),
            Contains("filter_tags", 'a","b'),
            In("doc_type", ("a", "b")),
            Compare("doc_type", EQ, "a"),
            Under("source_path", "a"),
            Compare("source_path", EQ, "a"),
            Compare("modified_at", EQ, 1),
            Compare("modified_at", GE, 1),
            DATED,
        ]
        assert len({canonical_key(predicate) for predicate in different}) == len(different)

    def test_fields(self) -> None:
        assert fields_of(MATCH_ALL) == frozenset()
        predicate = A & (DATED | ~Under("source_path", "x"))
        assert fields_of(predicate) == {"filter_tags", "filter_dated", "source_path"}


class TestRelaxation:
    def test_clauses_that_cannot_be_said_are_left_out(self) -> None:
        fields = {"filter_tags"}
        assert relax(A & DATED, fields=fields) == A
        assert relax(A | DATED, fields=fields) == MATCH_ALL
        assert relax(A & ~DATED, fields=fields) == A
        assert relax(~(A | DATED), fields=fields) == Not(A)
        assert relax(A & (B | DATED), fields=fields) == A
        assert relax(MATCH_NONE, fields=()) == MATCH_NONE

    def test_operators_count_as_well(self) -> None:
        without_not = set(Operator) - {Operator.NOT}
        assert relax(A & ~B, operators=without_not) == A
        without_any = set(Operator) - {Operator.CONTAINS_ANY}
        assert relax(A & ContainsAny("filter_tags", ("x", "y")), operators=without_any) == A

    def test_nothing_is_left_out_by_default(self) -> None:
        predicate = A & ~(DATED | Under("source_path", "x"))
        assert relax(predicate) == normalise(predicate)


class Text(Compiler[str]):
    """Says a predicate in words."""

    backend = "test engine"

    def always(self, *, matches: bool) -> str:
        return "everything" if matches else "nothing"

    def conjunction(self, parts: Sequence[str]) -> str:
        return f"({' and '.join(parts)})"

    def disjunction(self, parts: Sequence[str]) -> str:
        return f"({' or '.join(parts)})"

    def negation(self, part: str) -> str:
        return f"not {part}"

    def comparison(self, field: str, operator: Operator, value: Any) -> str:
        return f"{field} {operator} {value!r}"

    def membership(self, field: str, values: Sequence[Any]) -> str:
        return f"{field} in {list(values)}"

    def contains_any(self, field: str, values: Sequence[str]) -> str:
        return f"{field} any {list(values)}"

    def contains_all(self, field: str, values: Sequence[str]) -> str:
        return f"{field} all {list(values)}"

    def under(self, field: str, folder: str) -> str:
        return f"{field} under {folder!r}"


class Narrow(Text):
    """Knows tags only, and no negation and no disjunction."""

    operators = frozenset({EQ, Operator.CONTAINS, Operator.CONTAINS_ALL, Operator.AND})
    fields = frozenset({"filter_tags"})


class TestCompiler:
    @pytest.mark.parametrize(
        ("predicate", "said"),
        [
            (MATCH_ALL, "everything"),
            (In("doc_type", ()), "nothing"),
            (A, "filter_tags all ['a']"),
            (ContainsAny("filter_tags", ("b", "a")), "filter_tags any ['a', 'b']"),
            (ContainsAll("filter_tags", ("b", "a")), "filter_tags all ['a', 'b']"),
            (Compare("modified_at", GE, 5), "modified_at ge 5"),
            (In("doc_type", ("y", "x")), "doc_type in ['x', 'y']"),
            (Under("source_path", "a"), "source_path under 'a'"),
            (A & ~B, "(filter_tags all ['a'] and not filter_tags all ['b'])"),
            (A | DATED, "(filter_tags all ['a'] or filter_dated eq True)"),
        ],
    )
    def test_says_the_normal_form(self, predicate: Predicate, said: str) -> None:
        assert Text().compile(predicate) == said
        assert Text().compile_superset(predicate) == (said, True)

    @pytest.mark.parametrize(
        ("predicate", "named"),
        [
            (DATED, "'eq' on 'filter_dated'"),
            (ContainsAny("filter_tags", ("a", "b")), "'contains_any' on 'filter_tags'"),
            (~A, "'not'"),
            (A | B, "'or'"),
            (A & ~(B & DATED), "'or', 'not', 'eq' on 'filter_dated'"),
        ],
    )
    def test_refuses_what_the_engine_cannot_say(self, predicate: Predicate, named: str) -> None:
        with pytest.raises(UnsupportedFilterError) as caught:
            Narrow().compile(predicate)
        for part in named.split(", "):
            assert part in str(caught.value)
        assert "test engine cannot express" in str(caught.value)
        assert "it supports the operators and, contains, contains_all, eq on filter_tags" in str(caught.value)

    def test_supersets_say_whether_they_are_exact(self) -> None:
        assert Narrow().compile_superset(A & B) == ("(filter_tags all ['a'] and filter_tags all ['b'])", True)
        assert Narrow().compile_superset(A & DATED) == ("filter_tags all ['a']", False)
        assert Narrow().compile_superset(A & ~B) == ("filter_tags all ['a']", False)


def test_every_field_has_a_kind() -> None:
    assert set(FIELDS.values()) <= set(FieldKind)
    assert Always(True) == MATCH_ALL
