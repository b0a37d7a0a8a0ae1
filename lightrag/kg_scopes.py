"""Scopes: partitions of one knowledge graph by tenant, chapter or language.

A *scope tag* is a document tag with one of the configured prefixes, as ``tenant:1``. Every entity and
relation exists once in the aggregate (``tenant_tag`` is ``None`` here, ``""`` in stored rows) and once in
each scope that one of its documents is tagged with. A scoped object keeps its name and has its own graph id:
the name, U+001F, and the tag. Names never hold control characters, so nobody can forge a scoped identity by
choosing a name.

Normalising a tag may turn two tags into one. For scope tags that would mix two tenants, so such a tag is
refused wherever it comes in, at upload and at query.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from lightrag.constants import GRAPH_FIELD_SEP, MAX_QUERY_FILTER_TAGS, SCOPE_ID_SEPARATOR
from lightrag.exceptions import ScopeError
from lightrag.query_filters import DocumentMetadata, is_lossless, normalize_tag, normalize_tags

_VDB_ID_SEPARATOR = "\0"


@dataclass(frozen=True)
class ResolvedKgScope:
    """What the required tags of a query say about the graph and about documents.

    Attributes:
        kg_scope_tag: The scope to search, ``None`` for the aggregate. Documents must carry it as well,
            whatever
            ``required_tags_mode`` says: pass it on as ``build_vector_query_filter(…,
            scope_tag=kg_scope_tag)``.
        doc_filter_tags: The other required tags, in normal form, to which ``required_tags_mode`` applies.
    """

    kg_scope_tag: str | None
    doc_filter_tags: list[str]


# --- tags
# ----------------------------------------------------------------------------------------------------------


def normalize_scope_prefixes(prefixes: Iterable[str]) -> tuple[str, ...]:
    """Return the configured prefixes in normal form, each once; blank ones are skipped.

    Args:
        prefixes: Such as ``["tenant:"]``.

    Raises:
        ScopeError: A prefix holds a character that tags are not made of, so no tag could ever start with it.
    """
    distinct: dict[str, None] = {}
    for prefix in prefixes:
        stripped = prefix.strip()
        if not stripped:
            continue
        # A value is appended, because a tag alone would lose an underscore at its end.
        probe = f"{stripped}0"
        if not is_lossless(probe):
            raise ScopeError(f"scope prefix {prefix!r} may hold only a-z, 0-9, ':', '-' and single '_' inside")
        distinct[normalize_tag(probe)[:-1]] = None
    return tuple(distinct)


def is_scope_tag(tag: str, prefixes: Iterable[str]) -> bool:
    """Tell whether a tag in normal form starts with one of the prefixes, also in normal form."""
    return any(tag.startswith(prefix) for prefix in prefixes)


def parse_scope_tag(user_tags: Iterable[str], prefixes: Iterable[str]) -> list[str]:
    """Return the scope tags of a document, in its order.

    A tag that is nothing but the prefix names no scope and is passed over: uploads and queries refuse it, but
    a document may have been tagged so before the prefix was configured.

    Args:
        user_tags: Its stored tags, in normal form.
        prefixes: The configured prefixes; none means no scopes.

    Raises:
        ScopeError: A prefix is malformed.
    """
    normal_prefixes = normalize_scope_prefixes(prefixes)
    return [tag for tag in user_tags if is_scope_tag(tag, normal_prefixes) and tag not in normal_prefixes]


def check_scope_tags(metadata: DocumentMetadata, prefixes: Iterable[str]) -> list[str]:
    """Return the scope tags of a document that is being uploaded or re-tagged, and refuse ambiguous ones.

    Args:
        metadata: As validated from what the user sent, not from tags that were normalised before.
        prefixes: The configured prefixes.

    Raises:
        ScopeError: A scope tag has no value, or normalising replaced characters of it.
    """
    normal_prefixes = normalize_scope_prefixes(prefixes)
    for tag in metadata.altered_tags:
        _refuse_loss(tag, normal_prefixes)
    _require_values(metadata.tags, normal_prefixes)
    return parse_scope_tag(metadata.tags, normal_prefixes)


def resolve_kg_scope_from_required_tags(
    required_tags: Iterable[str], scope_prefixes: Iterable[str], *, forbidden_tags: Iterable[str] = ()
) -> ResolvedKgScope:
    """Split the required tags of a query into the one scope to search and the tags that documents must have.

    Args:
        required_tags: As the user sent them; tags that were normalised before hide a loss.
        scope_prefixes: The configured prefixes; with none every tag is an ordinary one and the scope is the
            aggregate.
        forbidden_tags: As the user sent them.

    Raises:
        ScopeError: Two scopes are asked for, a scope tag has no value or loses characters by normalising, or
            a scope
            is required and another forbidden.
        FilterSyntaxError: A tag is malformed, or there are too many.
    """
    prefixes = normalize_scope_prefixes(scope_prefixes)
    required, forbidden = list(required_tags), list(forbidden_tags)
    tags = normalize_tags(required, max_tags=MAX_QUERY_FILTER_TAGS)
    unwanted = normalize_tags(forbidden, max_tags=MAX_QUERY_FILTER_TAGS)
    for submitted in (*required, *forbidden):
        _refuse_loss(submitted, prefixes)
    _require_values((*tags, *unwanted), prefixes)
    scopes, unwanted_scopes = parse_scope_tag(tags, prefixes), parse_scope_tag(unwanted, prefixes)
    if len(scopes) > 1:
        asked = ", ".join(scopes)
        raise ScopeError(f"At most one scope tag allowed in required_tags for KG retrieval, not {asked}")
    if scopes and unwanted_scopes:
        raise ScopeError(
            f"forbidden_tags holds the scope tag {unwanted_scopes[0]!r} while required_tags selects "
            f"the scope {scopes[0]!r}: documents may carry several scope tags, so the two contradict each "
            f"other. Forbid ordinary tags, or require an ordinary tag of the documents that you want"
        )
    return ResolvedKgScope(scopes[0] if scopes else None, [tag for tag in tags if tag not in scopes])


def _require_values(tags: Iterable[str], prefixes: tuple[str, ...]) -> None:
    for tag in tags:
        if tag in prefixes:
            raise ScopeError(f"scope tag {tag!r} has no value after its prefix; write it as {tag + '1'!r}")


def _refuse_loss(submitted: str, prefixes: tuple[str, ...]) -> None:
    normal = normalize_tag(submitted)
    if is_scope_tag(normal, prefixes) and not is_lossless(submitted):
        raise ScopeError(
            f"scope tag {submitted!r} would become {normal!r}, which may be another scope; "
            f"use only a-z, 0-9, ':', '-' and single '_' inside"
        )


# --- identities
# ----------------------------------------------------------------------------------------------------


def make_scoped_entity_id(entity_name: str, tenant_tag: str | None) -> str:
    """Return the graph id of an entity: its name in the aggregate, name and tag joined by U+001F in a scope.

    Args:
        entity_name: The canonical name.
        tenant_tag: A scope tag in normal form; ``None`` or ``""`` for the aggregate.

    Raises:
        ScopeError: The name is empty or holds U+001F or NUL, or the tag is not in normal form.
    """
    _check_name(entity_name)
    return f"{entity_name}{SCOPE_ID_SEPARATOR}{_check_tag(tenant_tag)}" if tenant_tag else entity_name


@lru_cache(maxsize=16_384)
def split_scoped_entity_id(graph_node_id: str) -> tuple[str, str | None]:
    """Return the canonical name and the scope tag of a graph id, ``None`` for the aggregate.

    Raises:
        ScopeError: The id has more than one separator, no name, or no tag in normal form after the separator.
    """
    name, separator, tag = graph_node_id.partition(SCOPE_ID_SEPARATOR)
    _check_name(name)
    return name, _check_tag(tag) if separator else None


def make_entity_vdb_id(entity_name: str, tenant_tag: str | None = None) -> str:
    """Return the vector id of an entity.

    That of the aggregate does not depend on whether scopes are switched on, so switching them on duplicates
    nothing.

    Args:
        entity_name: The canonical name.
        tenant_tag: As for :func:`make_scoped_entity_id`.

    Raises:
        ScopeError: As there.
    """
    _check_name(entity_name)
    return "ent-" + _digest(entity_name, tenant_tag)


def make_scoped_relation_ids(source: str, target: str, tenant_tag: str | None) -> tuple[str, str]:
    """Return the graph ids of a relation's ends, both in the same scope, in the order given.

    Raises:
        ScopeError: As :func:`make_scoped_entity_id`.
    """
    return make_scoped_entity_id(source, tenant_tag), make_scoped_entity_id(target, tenant_tag)


def split_scoped_relation_ids(source_id: str, target_id: str) -> tuple[str, str, str | None]:
    """Return the canonical names of a relation's ends and the scope that both lie in.

    Raises:
        ScopeError: An id is malformed, or the ends lie in different scopes.
    """
    source, source_tag = split_scoped_entity_id(source_id)
    target, target_tag = split_scoped_entity_id(target_id)
    if source_tag != target_tag:
        raise ScopeError(
            f"a relation joins entities of one scope; {source!r} lies in {source_tag!r} "
            f"and {target!r} in {target_tag!r}"
        )
    return source, target, source_tag


def make_relation_vdb_id(source: str, target: str, tenant_tag: str | None = None) -> str:
    """Return the vector id of a relation, the same for both directions.

    Args:
        source: Canonical name of one end.
        target: Canonical name of the other.
        tenant_tag: As for :func:`make_scoped_entity_id`.

    Raises:
        ScopeError: As there.
    """
    _check_name(source)
    _check_name(target)
    return "rel-" + _digest("".join(sorted((source, target))), tenant_tag)


def make_relation_chunk_key(source_id: str, target_id: str) -> str:
    """Return the key of a relation in ``relation_chunks``: the graph ids of its ends, sorted and joined."""
    return GRAPH_FIELD_SEP.join(sorted((source_id, target_id)))


def _digest(name: str, tenant_tag: str | None) -> str:
    text = f"{name}{_VDB_ID_SEPARATOR}{_check_tag(tenant_tag)}" if tenant_tag else name
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _check_name(name: str) -> None:
    if not name or SCOPE_ID_SEPARATOR in name or _VDB_ID_SEPARATOR in name:
        raise ScopeError(f"entity name {name!r} must not be empty and must not hold U+001F or NUL")


def _check_tag(tag: str) -> str:
    if not tag or normalize_tag(tag) != tag:
        raise ScopeError(f"scope tag {tag!r} is not in normal form: a-z, 0-9, ':', '-' and single '_' inside")
    return tag
