"""Scope tags and scoped identities."""

import hashlib

import pytest

from lightrag.constants import SCOPE_ID_SEPARATOR
from lightrag.exceptions import FilterSyntaxError, ScopeError
from lightrag.kg_scopes import (
    ResolvedKgScope,
    check_scope_tags,
    is_scope_tag,
    make_entity_vdb_id,
    make_relation_chunk_key,
    make_relation_vdb_id,
    make_scoped_entity_id,
    make_scoped_relation_ids,
    normalize_scope_prefixes,
    parse_scope_tag,
    resolve_kg_scope_from_required_tags,
    split_scoped_entity_id,
    split_scoped_relation_ids,
)
from lightrag.query_filters import DocumentMetadata, build_vector_query_filter, document_matches_filter

PREFIXES = ["tenant:", "known-in-chapter:"]

LOSSY = [
    "tenant:日本",
    "tenant:a/b",
    "tenant:é",
    "tenant:José",
    "tenant：1",
    "ｔenant:1",
    "_tenant:1",
    "!tenant:1",
    "tenant:a__b",
    "tenant:a_",
    "tenant:\u212a",
    "tenant:1\0",
    "tenant:1\x1f2",
]


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class TestPrefixes:
    def test_normal_form(self) -> None:
        assert normalize_scope_prefixes([" Tenant: ", "tenant:", "", "lang_"]) == ("tenant:", "lang_")
        assert normalize_scope_prefixes([]) == ()

    @pytest.mark.parametrize("prefix", ["tenant/", "mandant ", "_t:", "t__", "é:", "!"])
    def test_prefixes_that_no_tag_can_have_are_refused(self, prefix: str) -> None:
        if prefix == "mandant ":
            assert normalize_scope_prefixes([prefix]) == ("mandant",)
            return
        with pytest.raises(ScopeError, match="scope prefix"):
            normalize_scope_prefixes([prefix])


class TestDocumentTags:
    def test_scope_tags_in_their_order(self) -> None:
        tags = ["law", "tenant:2", "known-in-chapter:01", "tenant:1", "mytenant:3"]
        assert parse_scope_tag(tags, PREFIXES) == ["tenant:2", "known-in-chapter:01", "tenant:1"]
        assert parse_scope_tag(tags, []) == []
        assert is_scope_tag("tenant:1", ["tenant:"])

    def test_a_bare_prefix_names_no_scope(self) -> None:
        assert parse_scope_tag(["tenant:", "law"], PREFIXES) == []
        with pytest.raises(ScopeError, match="'tenant:' has no value"):
            check_scope_tags(DocumentMetadata(tags=["tenant:"]), PREFIXES)

    @pytest.mark.parametrize("tag", LOSSY)
    def test_tags_that_could_become_another_scope_are_refused_at_upload(self, tag: str) -> None:
        metadata = DocumentMetadata(tags=["law", tag])
        with pytest.raises(ScopeError, match="would become"):
            check_scope_tags(metadata, PREFIXES)
        assert check_scope_tags(metadata, []) == []

    def test_ordinary_tags_may_lose_characters(self) -> None:
        metadata = DocumentMetadata(tags=["channel/ENG", " Tenant:ACME ", "tenant:b-1_x:y"])
        assert check_scope_tags(metadata, PREFIXES) == ["tenant:acme", "tenant:b-1_x:y"]


class TestResolution:
    @pytest.mark.parametrize(
        ("required", "scope", "others"),
        [
            ([], None, []),
            (["Patent"], None, ["patent"]),
            (["tenant:1"], "tenant:1", []),
            (["patent", "Tenant:1", " tenant:1"], "tenant:1", ["patent"]),
            (["known-in-chapter:03", "chapter:03"], "known-in-chapter:03", ["chapter:03"]),
        ],
    )
    def test_split(self, required: list[str], scope: str | None, others: list[str]) -> None:
        resolved = resolve_kg_scope_from_required_tags(required, PREFIXES)
        assert resolved == ResolvedKgScope(kg_scope_tag=scope, doc_filter_tags=others)

    def test_without_prefixes_every_tag_is_an_ordinary_one(self) -> None:
        resolved = resolve_kg_scope_from_required_tags(["tenant:1", "tenant:2", "tenant:a/b", "tenant:"], [])
        assert resolved == ResolvedKgScope(None, ["tenant:1", "tenant:2", "tenant:a_b", "tenant:"])

    @pytest.mark.parametrize("required", [["tenant:1", "tenant:2"], ["tenant:1", "known-in-chapter:01"]])
    def test_at_most_one_scope(self, required: list[str]) -> None:
        with pytest.raises(ScopeError, match="At most one scope tag allowed in required_tags for KG retrieval"):
            resolve_kg_scope_from_required_tags(required, PREFIXES)

    @pytest.mark.parametrize("tag", LOSSY)
    def test_tags_that_could_become_another_scope_are_refused_at_query(self, tag: str) -> None:
        with pytest.raises(ScopeError, match="would become"):
            resolve_kg_scope_from_required_tags([tag], PREFIXES)
        with pytest.raises(ScopeError, match="would become"):
            resolve_kg_scope_from_required_tags([], PREFIXES, forbidden_tags=[tag])

    def test_a_scope_tag_needs_a_value(self) -> None:
        for required, forbidden in ((["tenant:"], []), ([], ["tenant:"])):
            with pytest.raises(ScopeError, match="has no value"):
                resolve_kg_scope_from_required_tags(required, PREFIXES, forbidden_tags=forbidden)

    def test_a_required_and_a_forbidden_scope_contradict_each_other(self) -> None:
        with pytest.raises(ScopeError, match="contradict"):
            resolve_kg_scope_from_required_tags(
                ["known-in-chapter:03"], PREFIXES, forbidden_tags=["known-in-chapter:04"]
            )
        forbidden_only = resolve_kg_scope_from_required_tags(["law"], PREFIXES, forbidden_tags=["tenant:1"])
        assert forbidden_only == ResolvedKgScope(None, ["law"])
        ordinary = resolve_kg_scope_from_required_tags(["tenant:1"], PREFIXES, forbidden_tags=["draft"])
        assert ordinary == ResolvedKgScope("tenant:1", [])

    def test_malformed_tags_are_filter_errors(self) -> None:
        with pytest.raises(FilterSyntaxError):
            resolve_kg_scope_from_required_tags(["!!!"], PREFIXES)
        with pytest.raises(FilterSyntaxError, match="allowed are 32"):
            resolve_kg_scope_from_required_tags([f"t{number}" for number in range(33)], PREFIXES)

    def test_the_scope_is_required_of_documents_also_in_or_mode(self) -> None:
        param = {"required_tags": ["tenant:1", "patent", "letter"], "required_tags_mode": "or"}
        resolved = resolve_kg_scope_from_required_tags(param["required_tags"], PREFIXES)
        filter = build_vector_query_filter(param, scope_tag=resolved.kg_scope_tag)
        assert filter is not None
        assert document_matches_filter({"user_tags": ["tenant:1", "letter"]}, filter)
        assert not document_matches_filter({"user_tags": ["patent", "letter"]}, filter)
        assert not document_matches_filter({"user_tags": ["tenant:1"]}, filter)
        assert not document_matches_filter({"user_tags": ["tenant:2", "patent"]}, filter)


class TestIdentities:
    def test_round_trip(self) -> None:
        assert make_scoped_entity_id("IKEA", None) == make_scoped_entity_id("IKEA", "") == "IKEA"
        assert make_scoped_entity_id("IKEA", "tenant:1") == f"IKEA{SCOPE_ID_SEPARATOR}tenant:1"
        assert split_scoped_entity_id("IKEA") == ("IKEA", None)
        assert split_scoped_entity_id("IKEA\x1ftenant:1") == ("IKEA", "tenant:1")

    @pytest.mark.parametrize("name", ["", "IKEA\x1ftenant:1", "IKEA\x1f", "IKEA\0"])
    def test_names_cannot_forge_a_scope(self, name: str) -> None:
        for make in (make_scoped_entity_id, make_entity_vdb_id):
            with pytest.raises(ScopeError, match="entity name"):
                make(name, None)
        for ends in ((name, "b"), ("b", name)):
            with pytest.raises(ScopeError, match="entity name"):
                make_relation_vdb_id(*ends)

    @pytest.mark.parametrize("tag", ["Tenant:1", "a/b", "_", "tenant:1\x1f2", "日本"])
    def test_tags_are_in_normal_form(self, tag: str) -> None:
        for make in (make_scoped_entity_id, make_entity_vdb_id):
            with pytest.raises(ScopeError, match="not in normal form"):
                make("IKEA", tag)

    @pytest.mark.parametrize("identity", ["", "\x1ftenant:1", "IKEA\x1f", "IKEA\x1ft:1\x1ft:2", "IKEA\x1fT:1", "a\0b"])
    def test_malformed_identities_are_refused(self, identity: str) -> None:
        with pytest.raises(ScopeError):
            split_scoped_entity_id(identity)

    def test_vector_ids(self) -> None:
        assert make_entity_vdb_id("IKEA") == make_entity_vdb_id("IKEA", None) == "ent-" + md5("IKEA")
        assert make_entity_vdb_id("IKEA", "tenant:1") == "ent-" + md5("IKEA\0tenant:1")
        assert make_relation_vdb_id("b", "a") == make_relation_vdb_id("a", "b", None) == "rel-" + md5("ab")
        assert make_relation_vdb_id("b", "a", "tenant:1") == "rel-" + md5("ab\0tenant:1")

    def test_vector_ids_of_scopes_are_distinct(self) -> None:
        ids = {make_entity_vdb_id("IKEA", tag) for tag in (None, "tenant:1", "tenant:2")}
        ids |= {make_relation_vdb_id("IKEA", "Sweden", tag) for tag in (None, "tenant:1", "tenant:2")}
        assert len(ids) == 6

    def test_ends_of_a_relation_lie_in_one_scope(self) -> None:
        ends = make_scoped_relation_ids("IKEA", "Sweden", "tenant:1")
        assert ends == ("IKEA\x1ftenant:1", "Sweden\x1ftenant:1")
        assert split_scoped_relation_ids(*ends) == ("IKEA", "Sweden", "tenant:1")
        assert split_scoped_relation_ids("IKEA", "Sweden") == ("IKEA", "Sweden", None)
        with pytest.raises(ScopeError, match="one scope"):
            split_scoped_relation_ids("IKEA", "Sweden\x1ftenant:1")

    def test_chunk_key_has_no_direction(self) -> None:
        assert make_relation_chunk_key("b", "a") == make_relation_chunk_key("a", "b") == "a<SEP>b"
