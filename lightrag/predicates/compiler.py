"""The base of the compilers that say a predicate in the language of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from lightrag.exceptions import UnsupportedFilterError
from lightrag.predicates.nodes import (
    FIELDS,
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
    Scalar,
    leaf_operator,
    leaves_of,
)
from lightrag.predicates.normal import normalise, relax

T = TypeVar("T")


class Compiler(ABC, Generic[T]):
    """Turns predicates into ``T``, the filter expression of one engine.

    A subclass names its engine, declares what it can express and says each node; it never sees an empty list,
    nested equal connectives, or ``Not`` around anything but a leaf. Values must be bound, or composed with
    the driver's own types, never formatted into text.

    Attributes:
        backend: Name of the engine in messages.
        operators: Operators that the engine can express.
        fields: Fields that the engine stores.
    """

    backend: ClassVar[str]
    operators: ClassVar[Collection[Operator]] = frozenset(Operator)
    fields: ClassVar[Collection[str]] = frozenset(FIELDS)

    def compile(self, predicate: Predicate) -> T:
        """Return the engine's expression for exactly this predicate.

        Raises:
            UnsupportedFilterError: The engine cannot express a clause; nothing has been sent to it yet.
        """
        normal = normalise(predicate)
        refused = self._refused(normal)
        if refused:
            raise UnsupportedFilterError(
                f"{self.backend} cannot express {', '.join(refused)}; it supports the operators "
                f"{', '.join(sorted(self.operators))} on {', '.join(sorted(self.fields))}"
            )
        return self._build(normal)

    def compile_superset(self, predicate: Predicate) -> tuple[T, bool]:
        """Return the narrowest expression that loses no matching row, and whether it is exact.

        When it is not, the caller tests the rows in Python and fetches further until its page is full.
        """
        normal = normalise(predicate)
        widened = relax(normal, fields=self.fields, operators=self.operators)
        return self.compile(widened), widened == normal

    def _refused(self, normal: Predicate) -> list[str]:
        """Name the clauses that the engine cannot express."""
        connectives = {Operator.AND: And, Operator.OR: Or, Operator.NOT: Not}
        found: list[str] = [
            repr(operator.value)
            for operator, kind in connectives.items()
            if operator not in self.operators and _occurs(kind, normal)
        ]
        for leaf in leaves_of(normal):
            operator = leaf_operator(leaf)
            if operator not in self.operators or leaf.field not in self.fields:
                found.append(f"{operator.value!r} on {leaf.field!r}")
        return found

    def _build(self, node: Any) -> T:
        match node:
            case Always():
                return self.always(matches=node.matches)
            case And():
                return self.conjunction([self._build(operand) for operand in node.operands])
            case Or():
                return self.disjunction([self._build(operand) for operand in node.operands])
            case Not():
                return self.negation(self._build(node.operand))
            case Compare():
                return self.comparison(node.field, node.operator, node.value)
            case In():
                return self.membership(node.field, node.values)
            case Contains():
                return self.contains_all(node.field, (node.value,))
            case ContainsAny():
                return self.contains_any(node.field, node.values)
            case ContainsAll():
                return self.contains_all(node.field, node.values)
        return self.under(node.field, node.folder)

    @abstractmethod
    def always(self, *, matches: bool) -> T:
        """Say "every row" or "no row"; only ever the whole expression."""

    @abstractmethod
    def conjunction(self, parts: Sequence[T]) -> T:
        """Say that all of two or more parts hold."""

    @abstractmethod
    def disjunction(self, parts: Sequence[T]) -> T:
        """Say that at least one of two or more parts holds."""

    @abstractmethod
    def negation(self, part: T) -> T:
        """Say that a leaf does not hold; a row without the leaf's field must pass."""

    @abstractmethod
    def comparison(self, field: str, operator: Operator, value: Scalar) -> T:
        """Say that a single-valued field equals (``EQ``) or is ordered against the value."""

    @abstractmethod
    def membership(self, field: str, values: Sequence[Scalar]) -> T:
        """Say that a single-valued field equals one of two or more values."""

    @abstractmethod
    def contains_any(self, field: str, values: Sequence[str]) -> T:
        """Say that a list holds at least one of two or more values as an element."""

    @abstractmethod
    def contains_all(self, field: str, values: Sequence[str]) -> T:
        """Say that a list holds every one of one or more values as an element."""

    @abstractmethod
    def under(self, field: str, folder: str) -> T:
        """Say that a path is the folder or starts with the folder and a slash."""


def _occurs(kind: type[Predicate], node: Any) -> bool:
    match node:
        case And() | Or():
            return isinstance(node, kind) or any(_occurs(kind, operand) for operand in node.operands)
    return isinstance(node, kind)
