"""Access policies: a limit set by the operator, which a caller's own filter can only narrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightrag.exceptions import AccessDeniedError
from lightrag.kg_scopes import resolve_kg_scope_from_required_tags
from lightrag.query_filters import VectorQueryFilter, document_matches_filter, normalize_tags


@dataclass(frozen=True)
class AccessPolicy:
    """Which documents somebody may see: those with all required and none of the forbidden tags.

    Make one with :meth:`of`, which checks the tags.

    Attributes:
        required_tags: In normal form; at most one of them names a scope.
        forbidden_tags: In normal form.
        scope: The scope among the required tags, or ``None``.
    """

    required_tags: tuple[str, ...] = ()
    forbidden_tags: tuple[str, ...] = ()
    scope: str | None = None

    @classmethod
    def of(
        cls,
        required_tags: Iterable[str] = (),
        forbidden_tags: Iterable[str] = (),
        *,
        scope_prefixes: Sequence[str] = (),
    ) -> AccessPolicy:
        """Return a policy.

        Args:
            required_tags: As the operator wrote them.
            forbidden_tags: As the operator wrote them.
            scope_prefixes: Prefixes of the tags that name scopes.

        Raises:
            ScopeError: A scope tag cannot be used, or there are two.
            FilterSyntaxError: A tag is malformed.
        """
        required, forbidden = list(required_tags), list(forbidden_tags)
        resolved = resolve_kg_scope_from_required_tags(required, scope_prefixes, forbidden_tags=forbidden)
        # Blank tags would silently widen what the operator meant to limit; the filter model refuses them.
        VectorQueryFilter(required_tags=required, forbidden_tags=forbidden)
        return cls(tuple(normalize_tags(required)), tuple(normalize_tags(forbidden)), resolved.kg_scope_tag)

    @property
    def is_open(self) -> bool:
        """Whether nothing is limited."""
        return not self.required_tags and not self.forbidden_tags

    @property
    def filter(self) -> VectorQueryFilter | None:
        """The limit as a filter; ``None`` when nothing is limited."""
        if self.is_open:
            return None
        return VectorQueryFilter(required_tags=list(self.required_tags), forbidden_tags=list(self.forbidden_tags))

    def allows(self, metadata: Mapping[str, Any] | None, doc_id: str) -> bool:
        """Tell whether a document lies inside the limit.

        Args:
            metadata: ``metadata`` of its status row.
            doc_id: Its id.
        """
        limit = self.filter
        return limit is None or document_matches_filter(metadata, limit, doc_id=doc_id)

    def require(self, metadata: Mapping[str, Any] | None, doc_id: str) -> None:
        """Refuse a document outside the limit.

        Raises:
            AccessDeniedError: It lies outside.
        """
        if not self.allows(metadata, doc_id):
            raise AccessDeniedError(f"document {doc_id!r} lies outside of what you may see or change")

    def narrowed_scope(self, asked: str | None) -> str | None:
        """Return the scope of a request: the one it asks for, or that of the policy.

        Raises:
            AccessDeniedError: It asks for another scope than the policy's.
        """
        if self.scope is None or asked in (None, self.scope):
            return asked or self.scope
        raise AccessDeniedError(f"scope {asked!r} lies outside of what you may see; yours is {self.scope!r}")

    def check_request(self, required_tags: Iterable[str], evidence_policy: str | None = None) -> None:
        """Refuse a request that asks for what the policy hides.

        Args:
            required_tags: Tags that the request requires, in normal form.
            evidence_policy: Its ``kg_evidence_policy``.

        Raises:
            AccessDeniedError: A required tag is forbidden by the policy, or merged descriptions are asked for, which
                tell what hidden documents say.
        """
        hidden = sorted(set(required_tags) & set(self.forbidden_tags))
        if hidden:
            raise AccessDeniedError(f"documents tagged {hidden[0]!r} lie outside of what you may see")
        if evidence_policy == "keep_merged" and not self.is_open:
            raise AccessDeniedError("kg_evidence_policy 'keep_merged' shows hidden documents; use 'prune_evidence'")
