"""The nodes of the predicate tree and the closed list of fields they may name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lightrag.exceptions import FilterSyntaxError

Scalar = str | int | bool


class FieldKind(StrEnum):
    """What a field of a row holds."""

    TAGS = "tags"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    TEXT = "text"
    PATH = "path"


FIELDS: Mapping[str, FieldKind] = {
    "filter_tags": FieldKind.TAGS,
    "filter_dated": FieldKind.BOOLEAN,
    "filter_start_ms": FieldKind.INTEGER,
    "filter_start_us": FieldKind.INTEGER,
    "filter_end_ms": FieldKind.INTEGER,
    "filter_end_us": FieldKind.INTEGER,
    "full_doc_id": FieldKind.TEXT,
    "source_path": FieldKind.PATH,
    "doc_type": FieldKind.TEXT,
    "modified_at": FieldKind.INTEGER,
    "tenant_tag": FieldKind.TEXT,
    "has_undated_evidence": FieldKind.BOOLEAN,
    "has_open_start": FieldKind.BOOLEAN,
    "has_open_end": FieldKind.BOOLEAN,
}
"""Every field that a predicate may name; ``lightrag.query_filters.normal_form`` says what each one means."""


class Operator(StrEnum):
    """What a compiler may be asked to express; a backend declares its subset."""

    EQ = "eq"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    IN = "in"
    CONTAINS = "contains"
    CONTAINS_ANY = "contains_any"
    CONTAINS_ALL = "contains_all"
    UNDER = "under"
    AND = "and"
    OR = "or"
    NOT = "not"


ORDERINGS: Mapping[Operator, Callable[[int, int], bool]] = {
    Operator.LT: lambda left, right: left < right,
    Operator.LE: lambda left, right: left <= right,
    Operator.GT: lambda left, right: left > right,
    Operator.GE: lambda left, right: left >= right,
}
_SINGLE_VALUED = frozenset({FieldKind.BOOLEAN, FieldKind.INTEGER, FieldKind.TEXT, FieldKind.PATH})
_VALUE_TYPES: Mapping[FieldKind, type] = {
    FieldKind.TAGS: str,
    FieldKind.BOOLEAN: bool,
    FieldKind.INTEGER: int,
    FieldKind.TEXT: str,
    FieldKind.PATH: str,
}


def has_kind(value: object, kind: FieldKind) -> bool:
    """Tell whether a value is one of that kind, or one element of it; ``True`` is no integer."""
    return isinstance(value, _VALUE_TYPES[kind]) and (kind is FieldKind.BOOLEAN or not isinstance(value, bool))


def _check(field: str, operator: Operator, kinds: Collection[FieldKind], values: Collection[object]) -> None:
    """Refuse a leaf that could never be evaluated: unknown field, wrong operator, wrong type of value."""
    if field not in FIELDS:
        raise FilterSyntaxError(f"unknown filter field {field!r}; allowed are {', '.join(FIELDS)}")
    kind = FIELDS[field]
    if kind not in kinds:
        allowed = ", ".join(sorted(kinds))
        raise FilterSyntaxError(f"{operator.value!r} does not apply to {field!r} ({kind}); only to {allowed}")
    for value in values:
        if not has_kind(value, kind):
            raise FilterSyntaxError(f"{field!r} is compared with {_VALUE_TYPES[kind].__name__}, not with {value!r}")


class Predicate:
    """Base of all nodes. ``&``, ``|`` and ``~`` combine predicates."""

    __slots__ = ()

    def __and__(self, other: Predicate) -> Predicate:
        return And((self, other))

    def __or__(self, other: Predicate) -> Predicate:
        return Or((self, other))

    def __invert__(self) -> Predicate:
        return Not(self)


@dataclass(frozen=True, slots=True)
class Always(Predicate):
    """The same answer for every row; use :data:`MATCH_ALL` and :data:`MATCH_NONE`."""

    matches: bool


MATCH_ALL = Always(matches=True)
MATCH_NONE = Always(matches=False)


@dataclass(frozen=True, slots=True)
class Compare(Predicate):
    """The field equals the value, or for integers lies below or above it."""

    field: str
    operator: Operator
    value: Scalar

    def __post_init__(self) -> None:
        kinds = {FieldKind.INTEGER} if self.operator in ORDERINGS else _SINGLE_VALUED
        if self.operator is not Operator.EQ and self.operator not in ORDERINGS:
            raise FilterSyntaxError(f"{self.operator.value!r} is no comparison; allowed are eq, lt, le, gt and ge")
        _check(self.field, self.operator, kinds, (self.value,))


@dataclass(frozen=True, slots=True)
class In(Predicate):
    """The field equals one of the values."""

    field: str
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        _check(self.field, Operator.IN, _SINGLE_VALUED, self.values)


@dataclass(frozen=True, slots=True)
class Contains(Predicate):
    """The list holds the value as an element."""

    field: str
    value: str

    def __post_init__(self) -> None:
        _check(self.field, Operator.CONTAINS, {FieldKind.TAGS}, (self.value,))


@dataclass(frozen=True, slots=True)
class ContainsAny(Predicate):
    """The list holds at least one of the values."""

    field: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _check(self.field, Operator.CONTAINS_ANY, {FieldKind.TAGS}, self.values)


@dataclass(frozen=True, slots=True)
class ContainsAll(Predicate):
    """The list holds every one of the values."""

    field: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _check(self.field, Operator.CONTAINS_ALL, {FieldKind.TAGS}, self.values)


@dataclass(frozen=True, slots=True)
class Under(Predicate):
    """The path is the folder or lies below it; ``a/b`` covers ``a/b/c`` but not ``a/bc``."""

    field: str
    folder: str

    def __post_init__(self) -> None:
        _check(self.field, Operator.UNDER, {FieldKind.PATH}, (self.folder,))
        if not self.folder or self.folder != self.folder.strip("/"):
            raise FilterSyntaxError(
                f"folder {self.folder!r} must be relative, not empty and without a slash at its ends"
            )


@dataclass(frozen=True, slots=True)
class And(Predicate):
    """Every operand matches; true without operands."""

    operands: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or(Predicate):
    """At least one operand matches; false without operands."""

    operands: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not(Predicate):
    """The exact complement of the operand."""

    operand: Predicate


def leaf_operator(leaf: Any) -> Operator:
    """Return the operator of a leaf, the unit in which a backend declares support."""
    match leaf:
        case Compare():
            return leaf.operator
        case In():
            return Operator.IN
        case Contains():
            return Operator.CONTAINS
        case ContainsAny():
            return Operator.CONTAINS_ANY
        case ContainsAll():
            return Operator.CONTAINS_ALL
    return Operator.UNDER


def leaves_of(predicate: Any) -> Iterator[Any]:
    """Yield every leaf, whether under ``Not`` or not; constants have none."""
    match predicate:
        case And() | Or():
            for operand in predicate.operands:
                yield from leaves_of(operand)
        case Not():
            yield from leaves_of(predicate.operand)
        case Always():
            return
        case _:
            yield predicate


def fields_of(predicate: Predicate) -> frozenset[str]:
    """Return the names of the fields that a predicate reads."""
    return frozenset(leaf.field for leaf in leaves_of(predicate))
