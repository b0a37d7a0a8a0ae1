"""The models of a query's filter: strict about names and values, safe to turn into query text."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import KgEvidencePolicy, RequiredTagsMode, SearchFilters, VectorQueryFilter


class TestSearchFilters:
    def test_nothing_given(self) -> None:
        filters = SearchFilters()
        assert not filters.is_active
        assert filters.to_cypher_where() == ("", {})
        assert filters.to_payload_filter() == filters.to_property_filter() == {}
        assert SearchFilters.model_validate({"properties": None, "labels": None}) == filters

    def test_cypher_escapes_labels_and_binds_values(self) -> None:
        filters = SearchFilters(
            labels=["Person", "x`) MATCH (n) //"],
            document_ids=["doc-1", "author' = 'x' OR '1'='1' --"],
            properties={"status": "open", "year": [1999, 2000]},
        )
        clause, parameters = filters.to_cypher_where("n")
        assert clause == (
            "(n:`Person` OR n:`x``) MATCH (n) //`) AND n.`full_doc_id` IN $filter_0"
            " AND n.`status` = $filter_1 AND n.`year` IN $filter_2"
        )
        assert parameters == {
            "filter_0": ["doc-1", "author' = 'x' OR '1'='1' --"],
            "filter_1": "open",
            "filter_2": [1999, 2000],
        }

    def test_flat_filters(self) -> None:
        filters = SearchFilters(labels=["Person"], document_ids=["doc-1"], properties={"k": 1}, relation_types=["r"])
        assert filters.to_property_filter() == {"full_doc_id": ["doc-1"], "k": 1}
        assert filters.to_payload_filter() == {"label": ["Person"], "full_doc_id": ["doc-1"], "k": 1}

    @pytest.mark.parametrize("node_var", ["", "n)", "1n", "n m", "n`"])
    def test_node_variable_is_an_identifier(self, node_var: str) -> None:
        with pytest.raises(FilterSyntaxError, match="node variable"):
            SearchFilters().to_cypher_where(node_var)

    @pytest.mark.parametrize(
        "properties",
        [
            {"author' = 'x' OR '1'='1' --": 1},
            {"a.b": 1},
            {"": 1},
            {1: 1},
            {"label": "x"},
            {"full_doc_id": "x"},
            {"k": None},
            {"k": {"$ne": 1}},
            {"k": [[1]]},
            {"k": "a\0"},
            {"k": list(range(257))},
            {f"k{number}": 1 for number in range(257)},
            ["k"],
        ],
    )
    def test_properties_take_identifiers_and_scalars_only(self, properties: Any) -> None:
        with pytest.raises(ValidationError, match="propert"):
            SearchFilters(properties=properties)

    @pytest.mark.parametrize("field", ["labels", "relation_types", "document_ids"])
    def test_lists_refuse_to_become_empty(self, field: str) -> None:
        with pytest.raises(ValidationError, match=f"{field} holds only blank values"):
            SearchFilters.model_validate({field: ["", " "]})

    def test_entities(self) -> None:
        ada = {"entity_type": "person", "born": 1815, "alive": False}
        assert SearchFilters().matches_entity({})
        assert SearchFilters(labels=["Place", "PERSON"]).matches_entity(ada)
        assert not SearchFilters(labels=["Place"]).matches_entity(ada)
        assert not SearchFilters(labels=["pers"]).matches_entity(ada)
        assert not SearchFilters(labels=["Person"]).matches_entity({})
        assert SearchFilters(properties={"born": 1815, "alive": False}).matches_entity(ada)
        assert SearchFilters(properties={"born": [1, 1815]}).matches_entity(ada)
        assert not SearchFilters(properties={"born": []}).matches_entity(ada)
        assert not SearchFilters(properties={"born": "1815"}).matches_entity(ada)
        assert not SearchFilters(properties={"alive": 0}).matches_entity(ada)
        assert not SearchFilters(properties={"missing": 0}).matches_entity(ada)

    def test_relations(self) -> None:
        edge = {"keywords": "Employment, works at；合作", "weight": 2.0}
        for relation_type in ("employment", "WORKS AT", "合作"):
            assert SearchFilters(relation_types=[relation_type]).matches_relation(edge)
        assert not SearchFilters(relation_types=["work"]).matches_relation(edge)
        assert not SearchFilters(relation_types=["employment"]).matches_relation({})
        assert SearchFilters(properties={"weight": 2}).matches_relation(edge)
        assert not SearchFilters(relation_types=["employment"], properties={"weight": 1}).matches_relation(edge)


class TestVectorQueryFilter:
    def test_values_are_normalised(self) -> None:
        given = VectorQueryFilter.model_validate(
            {
                "required_tags": ["A", "a", "B/c"],
                "required_tags_mode": "or",
                "doc_types": ["PDF"],
                "path_prefixes": ["/a/", "a"],
                "kg_evidence_policy": "strict_drop",
                "modified_after": 10,
            }
        )
        assert given.required_tags == ["a", "b_c"]
        assert given.required_tags_mode is RequiredTagsMode.OR
        assert given.doc_types == ["pdf"]
        assert given.path_prefixes == ["a"]
        assert given.kg_evidence_policy is KgEvidencePolicy.STRICT_DROP
        assert given.modified_after_ms == 10_000
        assert given.modified_before_ms is None

    @pytest.mark.parametrize(
        "given",
        [
            {"required_tag": ["a"]},
            {"Required_Tags": ["a"]},
            {"required_tags": "a"},
            {"required_tags": ["", ""]},
            {"required_tags": ["!!!"]},
            {"required_tags": [f"t{number}" for number in range(33)]},
            {"forbidden_tags": [" "]},
            {"required_tags_mode": "any"},
            {"apply_forbidden_tags_to_kg": 1},
            {"apply_forbidden_tags_to_kg": "true"},
            {"doc_types": [""]},
            {"path_prefixes": ["/"]},
            {"path_prefixes": "a"},
            {"modified_after": "2020-01-15"},
            {"modified_after": "1579089600"},
            {"modified_after": 2, "modified_before": 1},
            {"kg_evidence_policy": "keep"},
            {"search_filters": {"label": ["x"]}},
            {"scope_tag": "Tenant:1"},
            {"scope_tag": ""},
            {"scope_tag": 1},
        ],
    )
    def test_mistakes_are_errors(self, given: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            VectorQueryFilter.model_validate(given)

    @pytest.mark.parametrize("given", ["required_tag", "Required_Tags"])
    def test_misspelt_fields_name_the_right_one(self, given: str) -> None:
        with pytest.raises(ValidationError, match="did you mean 'required_tags'"):
            VectorQueryFilter.model_validate({given: ["a"]})

    def test_json_schema_refuses_unknown_fields_too(self) -> None:
        schema = VectorQueryFilter.model_json_schema()["$defs"]["VectorQueryFilter"]
        assert schema["additionalProperties"] is False
        modified_after = json.dumps(schema["properties"]["modified_after"])
        assert '"date-time"' in modified_after
        assert '"number"' in modified_after
