"""Filters on knowledge-graph objects: entity types, relation types, source documents, stored attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters.sources import (
    MAX_FILTER_DOCUMENTS,
    MAX_FILTER_VALUES,
    check_text,
    normalize_list,
)
from lightrag.query_filters.strict_model import StrictModel

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_LABEL_KEY = "label"
_DOCUMENT_KEY = "full_doc_id"
_KEYWORD_SEPARATORS = re.compile("[,;，；、]|<SEP>")


def _texts(name: str, limit: int = MAX_FILTER_VALUES) -> BeforeValidator:
    return BeforeValidator(lambda values: normalize_list(values, name, str.strip, limit))


def _check_properties(value: object) -> dict[str, Any]:
    """Refuse names that are no identifiers, and values that are no scalars or lists of them."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise FilterSyntaxError(f"properties is an object of names and values, not {value!r}")
    if len(value) > MAX_FILTER_VALUES:
        raise FilterSyntaxError(f"properties has {len(value)} entries; allowed are {MAX_FILTER_VALUES}")
    for name, expected in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise FilterSyntaxError(f"property name {name!r} must be letters, digits and '_', at most 64 characters")
        if name in {_LABEL_KEY, _DOCUMENT_KEY}:
            raise FilterSyntaxError(f"property {name!r} is reserved; use labels or document_ids")
        options = expected if isinstance(expected, list) else [expected]
        if len(options) > MAX_FILTER_VALUES:
            raise FilterSyntaxError(f"property {name!r} lists {len(options)} values; allowed are {MAX_FILTER_VALUES}")
        for option in options:
            if not isinstance(option, str | int | float):
                raise FilterSyntaxError(
                    f"property {name!r} is compared with a text, number, boolean or a list of those"
                )
            if isinstance(option, str):
                check_text(option, f"property {name!r}")
    return dict(value)


class SearchFilters(StrictModel):
    """Constraints on every retrieval method of one call. Those that are given must all hold.

    Attributes:
        labels: Entity types; an entity has one of them. Case does not count.
        relation_types: A relation has one of them among its keywords. Case does not count.
        document_ids: Only entities, relations and chunks from these documents.
        properties: Stored attributes and the value each must equal; of a list, any one. Nothing is coerced,
            and "any of
            an empty list" matches nothing.
    """

    labels: Annotated[list[str], _texts("labels")] = Field(default_factory=list, examples=[["person"]])
    relation_types: Annotated[list[str], _texts("relation_types")] = Field(default_factory=list, examples=[["employs"]])
    document_ids: Annotated[list[str], _texts("document_ids", MAX_FILTER_DOCUMENTS)] = Field(
        default_factory=list, examples=[["doc-7d1e0a"]]
    )
    properties: Annotated[dict[str, Any], BeforeValidator(_check_properties)] = Field(
        default_factory=dict, examples=[{"entity_type": "person"}]
    )

    @cached_property
    def document_id_set(self) -> frozenset[str]:
        """``document_ids`` for quick look-up."""
        return frozenset(self.document_ids)

    @property
    def is_active(self) -> bool:
        """Whether anything is constrained."""
        return bool(self.labels or self.relation_types or self.document_ids or self.properties)

    def to_cypher_where(self, node_var: str = "node") -> tuple[str, dict[str, Any]]:
        """Return the constraints on a node as the inside of a Cypher WHERE clause.

        Entity types are native labels there, escaped; everything else is a parameter.

        Args:
            node_var: Variable that the query has bound to the node.

        Returns:
            The clause, ``""`` when nothing is constrained, and its parameters.

        Raises:
            FilterSyntaxError: ``node_var`` is no identifier.
        """
        if not _NAME.fullmatch(node_var):
            raise FilterSyntaxError(f"node variable {node_var!r} must be letters, digits and '_'")
        clauses: list[str] = []
        parameters: dict[str, Any] = {}
        if self.labels:
            options = " OR ".join(f"{node_var}:{quote_cypher(label)}" for label in self.labels)
            clauses.append(f"({options})")
        for index, (name, expected) in enumerate(self.to_property_filter().items()):
            operator = "IN" if isinstance(expected, list) else "="
            clauses.append(f"{node_var}.{quote_cypher(name)} {operator} $filter_{index}")
            parameters[f"filter_{index}"] = expected
        return " AND ".join(clauses), parameters

    def to_payload_filter(self) -> dict[str, Any]:
        """Return a flat filter for vector stores: payload key to value, where a list means any of.

        Entity types become the key ``label``.
        """
        labels = {_LABEL_KEY: list(self.labels)} if self.labels else {}
        return {**labels, **self.to_property_filter()}

    def to_property_filter(self) -> dict[str, Any]:
        """Return a flat filter over node properties only: name to value, where a list means any of."""
        documents = {_DOCUMENT_KEY: list(self.document_ids)} if self.document_ids else {}
        return {**documents, **self.properties}

    def matches_entity(self, attributes: Mapping[str, Any]) -> bool:
        """Tell whether an entity has one of the labels and all properties.

        Args:
            attributes: The entity's attributes as the query may see them, with ``entity_type``.
        """
        if self.labels:
            entity_type = str(attributes.get("entity_type", "")).strip().casefold()
            if entity_type not in {label.casefold() for label in self.labels}:
                return False
        return self._matches_properties(attributes)

    def matches_relation(self, attributes: Mapping[str, Any]) -> bool:
        """Tell whether a relation has one of the relation types among its keywords and all properties.

        Args:
            attributes: The relation's attributes as the query may see them, with ``keywords``.
        """
        if self.relation_types:
            keywords = _KEYWORD_SEPARATORS.split(str(attributes.get("keywords", "")))
            known = {keyword.strip().casefold() for keyword in keywords}
            if known.isdisjoint(relation_type.casefold() for relation_type in self.relation_types):
                return False
        return self._matches_properties(attributes)

    def _matches_properties(self, attributes: Mapping[str, Any]) -> bool:
        for name, expected in self.properties.items():
            options = expected if isinstance(expected, list) else [expected]
            if not any(_equal(attributes.get(name), option) for option in options):
                return False
        return True


def _equal(stored: object, expected: object) -> bool:
    """Compare without coercion: numbers with numbers, ``True`` only with ``True``."""
    if isinstance(stored, bool) or isinstance(expected, bool):
        return stored is expected
    return stored == expected


def quote_cypher(name: str) -> str:
    """Return a label or property name as a quoted Cypher identifier."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
