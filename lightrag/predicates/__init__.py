"""A small predicate tree over the filter fields of a stored row, and the base of every backend compiler.

A predicate is a value: build it once, normalise it, evaluate it on a row in Python, or compile it for an
engine.

Logic is two-valued. A comparison on a missing, null or differently typed field is false, and ``Not`` is the
exact complement of what it holds, so De Morgan's laws hold and every engine can be tested against
:func:`evaluate`. An engine with three-valued logic must keep rows with a missing field under ``Not``.

Nothing is coerced: ``1``, ``"1"`` and ``True`` differ. "One of no values" is :data:`MATCH_NONE` and "all of
no tags" is :data:`MATCH_ALL`; both are folded away before an engine sees them. Fields come from the closed
list :data:`FIELDS`, so no text from a caller ever becomes a field name.
"""

from __future__ import annotations

from lightrag.predicates.compiler import Compiler
from lightrag.predicates.evaluation import evaluate
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
    FieldKind,
    In,
    Not,
    Operator,
    Or,
    Predicate,
    Scalar,
    Under,
    fields_of,
)
from lightrag.predicates.normal import canonical_key, normalise, relax

__all__ = [
    "FIELDS",
    "MATCH_ALL",
    "MATCH_NONE",
    "Always",
    "And",
    "Compare",
    "Compiler",
    "Contains",
    "ContainsAll",
    "ContainsAny",
    "FieldKind",
    "In",
    "Not",
    "Operator",
    "Or",
    "Predicate",
    "Scalar",
    "Under",
    "canonical_key",
    "evaluate",
    "fields_of",
    "normalise",
    "relax",
]
