"""One partition of the graph, and how names become identities in it."""

from __future__ import annotations

from dataclasses import dataclass

from lightrag.constants import SCOPE_ID_SEPARATOR
from lightrag.context import EngineContext
from lightrag.contracts.evidence import relation_key
from lightrag.exceptions import InputError, ScopeError
from lightrag.kg_scopes import make_scoped_entity_id, parse_scope_tag
from lightrag.query_filters import normalize_tag
from lightrag.runtime.text import normalize_name


@dataclass(frozen=True, slots=True)
class Partition:
    """The aggregate, or one scope.

    Attributes:
        tenant_tag: Scope tag in normal form; ``""`` is the aggregate.
    """

    tenant_tag: str = ""

    def entity_id(self, name: object, field: str = "entity_name") -> str:
        """Return the graph id of an entity.

        Args:
            name: As a person gave it.
            field: How the caller's argument is called, for the message.

        Raises:
            InputError: Nothing is left of the name.
            ScopeError: It is the id of an entity in a scope, where a name was expected.
        """
        return make_scoped_entity_id(entity_name(name, field), self.tenant_tag)

    def relation_id(self, source: object, target: object) -> str:
        """Return the key of a relation.

        Raises:
            InputError: An end has no name, or both are the same.
            ScopeError: As :meth:`entity_id`.
        """
        first, second = self.entity_id(source, "source_entity"), self.entity_id(target, "target_entity")
        if first == second:
            raise InputError(f"a relation joins two entities; both ends are {entity_name(source, 'source_entity')!r}")
        return relation_key(first, second)

    def contains(self, graph_id: str) -> bool:
        """Tell whether a node belongs to the partition."""
        return scope_of(graph_id) == self.tenant_tag


def entity_name(name: object, field: str = "entity_name") -> str:
    """Return the canonical form of a name.

    Raises:
        InputError: It is no text, or nothing is left of it.
        ScopeError: It is the id of an entity in a scope, where a name was expected.
    """
    if not isinstance(name, str):
        raise InputError(f"{field} is {name!r}; a name is text")
    if SCOPE_ID_SEPARATOR in name:
        raise ScopeError(f"{field} is {name!r}, an id inside a scope; give the name, and the scope as tenant_tag")
    normal = normalize_name(name)
    if not normal:
        raise InputError(f"{field} is {name!r}, of which no name is left")
    return normal


def scope_of(graph_id: str) -> str:
    """Return the scope tag of a graph id, ``""`` for the aggregate; ids of other tools belong to it."""
    return graph_id.partition(SCOPE_ID_SEPARATOR)[2]


def name_of(graph_id: str) -> str:
    """Return the canonical name of a graph id."""
    return graph_id.partition(SCOPE_ID_SEPARATOR)[0]


def readable_partition(tenant_tag: str | None) -> Partition:
    """Return a partition to look at; a scope that does not exist is an empty one.

    Raises:
        ScopeError: The tag is not in normal form.
    """
    if not tenant_tag:
        return Partition()
    if not isinstance(tenant_tag, str) or normalize_tag(tenant_tag) != tenant_tag:
        raise ScopeError(f"scope tag {tenant_tag!r} is not in normal form: a-z, 0-9, ':', '-' and single '_' inside")
    return Partition(tenant_tag)


def writable_partition(context: EngineContext, tenant_tag: str | None) -> Partition:
    """Return a partition to write to.

    Raises:
        ScopeError: The tag does not name a scope of this workspace.
    """
    partition = readable_partition(tenant_tag)
    settings = context.settings
    if not partition.tenant_tag:
        return partition
    if not settings.enable_kg_scope_materialization:
        raise ScopeError(
            f"tenant_tag is {tenant_tag!r}, but scopes are off: set enable_kg_scope_materialization, or leave it out"
        )
    if not parse_scope_tag([partition.tenant_tag], settings.scope_tag_prefixes):
        allowed = ", ".join(settings.scope_tag_prefixes) or "none"
        raise ScopeError(f"tenant_tag {tenant_tag!r} is no scope tag; scope_tag_prefixes are: {allowed}")
    return partition
