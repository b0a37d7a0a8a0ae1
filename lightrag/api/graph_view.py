"""Which partition of the graph a request looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightrag.exceptions import FilterSyntaxError, UnsupportedFilterError
from lightrag.kg_scopes import resolve_kg_scope_from_required_tags

if TYPE_CHECKING:
    from lightrag.settings import Settings


def scope_of_request(settings: Settings, required_tags: Sequence[str]) -> str | None:
    """Return the scope that required tags choose; ``None`` for the aggregate.

    Args:
        settings: Name the prefixes of scopes, and whether each has a graph of its own.
        required_tags: As sent.

    Raises:
        ScopeError: Two scopes are asked for, or a scope tag is malformed.
        UnsupportedFilterError: A tag is required that names no scope: a part of the graph cannot be limited by it here.
        FilterSyntaxError: All tags are blank.
    """
    if not required_tags:
        return None
    if not any(tag.strip() for tag in required_tags):
        raise FilterSyntaxError("required_tags holds only blank tags; leave it out, or send a tag")
    prefixes = settings.scope_tag_prefixes if settings.enable_kg_scope_materialization else []
    resolved = resolve_kg_scope_from_required_tags(required_tags, prefixes)
    if resolved.doc_filter_tags:
        raise UnsupportedFilterError(
            f"required_tags holds {resolved.doc_filter_tags[0]!r}, which names no scope with a graph of its own; "
            f"scopes begin with one of: {', '.join(prefixes) or 'none is configured'}"
        )
    return resolved.kg_scope_tag
