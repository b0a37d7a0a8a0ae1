"""The normal form of a predicate, its canonical key, and its relaxation to what an engine can express."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from lightrag.predicates.nodes import (
    FIELDS,
    MATCH_ALL,
    MATCH_NONE,
    Always,
    And,
    Compare,
    Contains,
    ContainsAll,
    ContainsAny,
    In,
    Not,
    Operator,
    Or,
    Predicate,
    Under,
    leaf_operator,
)


def normalise(predicate: Predicate) -> Predicate:
    """Return an equivalent predicate: flat, folded, sorted, without duplicates, ``Not`` only around leaves.

    Two predicates that differ only in the order or repetition of operands or values have the same normal
    form, and constants occur only as the whole predicate.
    """
    return _normalise(predicate, negated=False)


def _normalise(predicate: Predicate, *, negated: bool) -> Predicate:
    match predicate:
        case Not():
            return _normalise(predicate.operand, negated=not negated)
        case And() | Or():
            conjunction = isinstance(predicate, And) is not negated
            return _join([_normalise(operand, negated=negated) for operand in predicate.operands], conjunction)
    leaf = _fold_leaf(predicate)
    if isinstance(leaf, Always):
        return Always(leaf.matches is not negated)
    return Not(leaf) if negated else leaf


def _fold_leaf(leaf: Predicate) -> Predicate:
    match leaf:
        case In():
            values = tuple(sorted(set(leaf.values)))
            if not values:
                return MATCH_NONE
            return In(leaf.field, values) if len(values) > 1 else Compare(leaf.field, Operator.EQ, values[0])
        case ContainsAny() | ContainsAll():
            tags = tuple(sorted(set(leaf.values)))
            if not tags:
                return MATCH_ALL if isinstance(leaf, ContainsAll) else MATCH_NONE
            return type(leaf)(leaf.field, tags) if len(tags) > 1 else Contains(leaf.field, tags[0])
    return leaf


def _join(operands: list[Predicate], conjunction: bool) -> Predicate:
    """Combine normalised operands by And (``conjunction``) or Or, and normalise the result."""
    kind: type[And | Or] = And if conjunction else Or
    neutral = Always(conjunction)
    distinct: dict[str, Predicate] = {}
    for operand in operands:
        for part in operand.operands if isinstance(operand, kind) else (operand,):
            if isinstance(part, Always):
                if part != neutral:
                    return part
            else:
                distinct[_key(part)] = part
    if any(isinstance(part, Not) and _key(part.operand) in distinct for part in distinct.values()):
        return Always(not conjunction)
    parts = tuple(distinct[key] for key in sorted(distinct))
    if not parts:
        return neutral
    return kind(parts) if len(parts) > 1 else parts[0]


def canonical_key(predicate: Predicate) -> str:
    """Return a text that is equal for predicates with the same normal form and differs for all others."""
    return _key(normalise(predicate))


def _key(predicate: Predicate) -> str:
    return json.dumps(_as_json(predicate), separators=(",", ":"))


def _as_json(predicate: Any) -> list[Any]:
    match predicate:
        case Always():
            return ["always", predicate.matches]
        case And() | Or():
            name = Operator.AND if isinstance(predicate, And) else Operator.OR
            return [name, *(_as_json(operand) for operand in predicate.operands)]
        case Not():
            return [Operator.NOT, _as_json(predicate.operand)]
    operator = leaf_operator(predicate)
    match predicate:
        case Compare() | Contains():
            return [operator, predicate.field, predicate.value]
        case Under():
            return [operator, predicate.field, predicate.folder]
    return [operator, predicate.field, list(predicate.values)]


def relax(
    predicate: Predicate,
    *,
    fields: Collection[str] = frozenset(FIELDS),
    operators: Collection[Operator] = tuple(Operator),
) -> Predicate:
    """Return the narrowest predicate over these fields and operators that still accepts every matching row.

    A clause that cannot be expressed is left out, which only ever lets more through; the caller tests the
    rows that come back. An engine without ``Not`` keeps the positive clauses.

    Returns:
        The normalised predicate, equal to ``normalise(predicate)`` when nothing had to be left out.
    """

    def widened(part: Predicate) -> Predicate:
        match part:
            case And() | Or():
                return type(part)(tuple(widened(operand) for operand in part.operands))
            case Always():
                return part
            case Not():
                expressible = Operator.NOT in operators and widened(part.operand) is part.operand
                return part if expressible else MATCH_ALL
        leaf: Any = part
        return part if leaf.field in fields and leaf_operator(leaf) in operators else MATCH_ALL

    return normalise(widened(normalise(predicate)))
