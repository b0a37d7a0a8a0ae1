"""Evaluation of a predicate on a row: the reference for every compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightrag.predicates.nodes import (
    FIELDS,
    ORDERINGS,
    Always,
    And,
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
    has_kind,
)


def evaluate(predicate: Predicate, row: Mapping[str, Any]) -> bool:
    """Tell whether a row matches. This is the reference that every compiler is tested against.

    Args:
        predicate: Any predicate, normalised or not.
        row: Field values; fields may be missing, further keys are ignored.
    """
    match predicate:
        case Always():
            return predicate.matches
        case And():
            return all(evaluate(operand, row) for operand in predicate.operands)
        case Or():
            return any(evaluate(operand, row) for operand in predicate.operands)
        case Not():
            return not evaluate(predicate.operand, row)
        case ContainsAll(values=()):
            return True
    return _evaluate_leaf(predicate, row)


def _evaluate_leaf(leaf: Any, row: Mapping[str, Any]) -> bool:
    stored = row.get(leaf.field)
    if FIELDS[leaf.field] is FieldKind.TAGS:
        elements = stored if isinstance(stored, list | tuple | set | frozenset) else ()
        match leaf:
            case Contains():
                return leaf.value in elements
            case ContainsAny():
                return any(value in elements for value in leaf.values)
        return all(value in elements for value in leaf.values)
    if not has_kind(stored, FIELDS[leaf.field]):
        return False
    match leaf:
        case In():
            return stored in leaf.values
        case Under():
            return bool(stored == leaf.folder) or str(stored).startswith(leaf.folder + "/")
    if leaf.operator is Operator.EQ:
        return bool(stored == leaf.value)
    return ORDERINGS[leaf.operator](stored, leaf.value)  # type: ignore[arg-type]
