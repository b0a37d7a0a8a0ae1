"""Metadata as a caller gives it: one for all documents of a call, or a list with one for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightrag.exceptions import FilterSyntaxError, InputError, ScopeError
from lightrag.kg_scopes import check_scope_tags
from lightrag.query_filters import DocumentMetadata


def one_for_each(given: Any, count: int) -> list[Any]:
    """Return the metadata of each document, as given; ``None`` where a document has none.

    Raises:
        InputError: There are as many as nobody can match with the documents.
    """
    if not isinstance(given, list | tuple):
        return [given] * count
    if len(given) != count:
        raise InputError(f"metadata has {len(given)} entries for {count} documents; give one for each, or one for all")
    return list(given)


def stored_for_each(given: Any, count: int, scope_prefixes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ``user_*`` keys of each document.

    Args:
        given: Metadata of all documents, or a list.
        count: Number of documents.
        scope_prefixes: Prefixes of tags that name a scope.

    Raises:
        InputError: The numbers do not match.
        FilterSyntaxError: A date, a tag or a field cannot be used; in a list the message names the entry.
        ScopeError: A scope tag is malformed.
    """
    if not isinstance(given, list | tuple):
        return [_stored(given, scope_prefixes)] * count
    found = []
    for position, one in enumerate(one_for_each(given, count)):
        try:
            found.append(_stored(one, scope_prefixes))
        except (FilterSyntaxError, ScopeError) as error:
            raise type(error)(f"metadata[{position}]: {error}") from error
    return found


def _stored(given: Any, scope_prefixes: Sequence[str]) -> dict[str, Any]:
    if given is None:
        return {}
    model = DocumentMetadata.coerce(given)
    check_scope_tags(model, scope_prefixes)
    return model.to_storage()
