"""What must hold of filters for every document, filter and order."""

import re
from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from lightrag.constants import MAX_DOCUMENT_TAG_CHARS
from lightrag.exceptions import FilterSyntaxError, ScopeError
from lightrag.kg_scopes import (
    check_scope_tags,
    make_entity_vdb_id,
    make_scoped_entity_id,
    resolve_kg_scope_from_required_tags,
    split_scoped_entity_id,
)
from lightrag.predicates import (
    FIELDS,
    And,
    Not,
    Operator,
    Or,
    Predicate,
    canonical_key,
    evaluate,
    normalise,
    relax,
)
from lightrag.query_filters import (
    DATE_FILTER_PRESETS,
    DateFilter,
    DocumentMetadata,
    FilterSummary,
    as_filter,
    build_backend_filter_expr,
    build_filter_cache_hash,
    document_matches_date_filter,
    document_matches_filter,
    document_predicate,
    has_active_filters,
    instant_us,
    is_lossless,
    kg_union_tags_match,
    normal_form,
    normalize_tag,
    normalize_tags,
    parse_stored_datetime,
    serialize_aware_datetime,
    summarise,
    summary_predicate,
)
from tests.property.filter_strategies import TAGS, aware_datetimes, date_filters, filters, metadatas, predicates, rows

# Examples are not timed: other work on the machine must not make them fail.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
THOROUGH = settings(UNTIMED, max_examples=500)

Json = dict[str, Any]


# --- the truth and its predicate -----------------------------------------------------------------------------------


@THOROUGH
@given(metadatas(), filters(), st.sampled_from(["doc-0", "doc-1", "doc-9"]))
def test_predicate_over_stored_rows_is_exactly_the_truth(metadata: Json | None, filter: Json, doc_id: str) -> None:
    accepted = document_matches_filter(metadata, filter, doc_id=doc_id)
    event(f"accepted: {accepted}")
    row = normal_form(metadata, doc_id=doc_id)
    assert evaluate(document_predicate(filter), row) is accepted
    assert evaluate(build_backend_filter_expr(filter), row) is accepted


@UNTIMED
@given(metadatas(), filters(), st.sets(st.sampled_from(sorted(FIELDS))), st.sets(st.sampled_from(list(Operator))))
def test_relaxed_predicates_lose_nothing(
    metadata: Json | None, filter: Json, fields: set[str], operators: set[Operator]
) -> None:
    row = normal_form(metadata, doc_id="doc-0")
    exact = document_predicate(filter)
    relaxed = relax(exact, fields=fields, operators=operators)
    assert evaluate(relaxed, row) or not evaluate(exact, row)


@UNTIMED
@given(metadatas(), filters())
def test_rows_without_filter_fields_always_pass_a_pushed_down_filter(metadata: Json | None, filter: Json) -> None:
    assert evaluate(build_backend_filter_expr(filter), {"content": "old row", "full_doc_id": "doc-0"})
    assert evaluate(build_backend_filter_expr(filter, for_summaries=True), {"entity_name": "old row"})


def oracle(start: datetime | None, end: datetime | None, dates: Json) -> bool:
    """The date rules once more, written with sets of named shapes and infinite floats."""
    have = ("s" if start else "") + ("e" if end else "")
    shape, undated = dates.get("shape", "any"), dates.get("undated", "exclude")
    window = dates.get("range")
    if window is None and shape == "any" and undated == "exclude":
        return True
    if undated == "only" or have == "":
        return have == "" and undated != "exclude"
    if window is None and shape == "any":
        return False
    if have not in {"any": ["s", "e", "se"], "dated": ["s", "e", "se"], "bounded": ["se"],
                    "has_start": ["s", "se"], "has_end": ["e", "se"]}[shape]:  # fmt: skip
        return False
    if window is None:
        return True
    low, high = ((instant_us(bound) if bound else None) for bound in (start, end))
    opens, closes = (window.get(name) and instant_us(parse_stored_datetime(window[name])) for name in ("start", "end"))

    def at_most(left: int | None, right: int | None, left_open: int, right_open: int) -> bool:
        infinite = 10**30
        return (left_open * infinite if left is None else left) <= (right_open * infinite if right is None else right)

    mode = dates.get("range_mode", "overlap")
    if mode == "overlap":
        return at_most(low, closes, -1, 1) and at_most(opens, high, -1, 1)
    if mode == "contains":
        return at_most(low, opens, -1, -1) and at_most(closes, high, 1, 1)
    return at_most(opens, low, -1, -1) and at_most(high, closes, 1, 1)


@THOROUGH
@given(metadatas(), date_filters)
def test_dates_follow_the_rules(metadata: Json | None, dates: Json) -> None:
    bounds = [(metadata or {}).get(key) for key in ("user_start_date", "user_end_date")]
    start, end = (parse_stored_datetime(bound) if bound else None for bound in bounds)
    assert document_matches_date_filter(metadata, dates) is oracle(start, end, dates)


@UNTIMED
@given(metadatas(), date_filters, st.sampled_from([0, 330, -720, 825]))
def test_offsets_make_no_difference(metadata: Json | None, dates: Json, minutes: int) -> None:
    def moved(text: str) -> str:
        moment = parse_stored_datetime(text)
        if not 2 < moment.year < 9999:
            return text
        return moment.astimezone(timezone(timedelta(minutes=minutes))).isoformat()

    other = metadata and {key: moved(value) if "_date" in key else value for key, value in metadata.items()}
    window = dates.get("range")
    elsewhere = {**dates, "range": window and {name: moved(bound) for name, bound in window.items()}}
    answer = document_matches_date_filter(metadata, dates)
    assert document_matches_date_filter(other, elsewhere) is answer
    assert build_filter_cache_hash({"date_filter": dates}) == build_filter_cache_hash({"date_filter": elsewhere})


@UNTIMED
@given(aware_datetimes())
def test_dates_come_back_letter_for_letter(moment: datetime) -> None:
    text = moment.isoformat()
    assert serialize_aware_datetime(parse_stored_datetime(text)) == text
    metadata = DocumentMetadata.model_validate({"start_date": text})
    assert metadata.to_storage()["user_start_date"] == text
    assert DocumentMetadata.model_validate_json(metadata.model_dump_json()).to_storage() == metadata.to_storage()


@UNTIMED
@given(st.datetimes(timezones=st.timezones()))
def test_every_aware_datetime_keeps_its_instant(moment: datetime) -> None:
    if moment.utcoffset() is None:
        return
    assert instant_us(parse_stored_datetime(serialize_aware_datetime(moment))) == instant_us(moment)


@UNTIMED
@given(st.text(max_size=30) | st.from_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)", fullmatch=True))
def test_any_text_is_read_or_refused_by_a_typed_error(text: str) -> None:
    try:
        moment = parse_stored_datetime(text)
    except FilterSyntaxError:
        return
    assert moment.utcoffset() is not None


@UNTIMED
@given(st.sampled_from(sorted(DATE_FILTER_PRESETS)), metadatas(), aware_datetimes(), aware_datetimes())
def test_presets_are_the_knobs_they_stand_for(name: str, metadata: Json | None, one: datetime, other: datetime) -> None:
    start, end = sorted([one, other])
    mode, shape, undated = DATE_FILTER_PRESETS[name]
    knobs: Json = {"range_mode": mode, "shape": shape, "undated": undated, "range": {"start": start, "end": end}}
    by_hand = {key: value for key, value in knobs.items() if value is not None}
    answer = document_matches_date_filter(metadata, DateFilter.preset(name, start, end))
    assert document_matches_date_filter(metadata, by_hand) is answer


# --- tags ----------------------------------------------------------------------------------------------------------

any_text = st.text(max_size=40)


@UNTIMED
@given(any_text)
@example("ﬀİŉſK")
def test_normal_form_of_a_tag_is_its_own_normal_form(text: str) -> None:
    normal = normalize_tag(text)
    assert re.fullmatch(r"[a-z0-9:_-]*", normal)
    assert normalize_tag(normal) == normal
    assert is_lossless(normal)


@UNTIMED
@given(st.lists(any_text | st.sampled_from(["a", "A ", "", " "]), max_size=8))
def test_tags_are_normal_distinct_and_never_dropped_silently(raw: list[str]) -> None:
    try:
        tags = normalize_tags(raw)
    except FilterSyntaxError:
        assert any(text.strip() and not normalize_tag(text) for text in raw)
        return
    assert len(set(tags)) == len(tags)
    assert set(tags) == {normalize_tag(text) for text in raw if text.strip()}
    assert all(0 < len(tag) <= MAX_DOCUMENT_TAG_CHARS for tag in tags)
    assert normalize_tags(tags) == tags


@UNTIMED
@given(any_text, any_text)
@example("日本", "中国")
@example("a/b", "a_b")
@example("é", "e")
def test_two_tenants_never_share_a_scope(first: str, second: str) -> None:
    def scope(value: str) -> str | None:
        try:
            return resolve_kg_scope_from_required_tags([f"tenant:{value}"], ["tenant:"]).kg_scope_tag
        except (ScopeError, FilterSyntaxError):
            return None

    def uploaded(value: str) -> list[str]:
        try:
            return check_scope_tags(DocumentMetadata(tags=[f"tenant:{value}"]), ["tenant:"])
        except ValueError:
            return []

    assert uploaded(first) == ([scope(first)] if scope(first) else [])
    if scope(first) is not None and scope(first) == scope(second):
        assert first.rstrip().lower() == second.rstrip().lower()
        assert first.rstrip().isascii()


@UNTIMED
@given(st.text(min_size=1), st.none() | st.sampled_from(["tenant:1", "a"]), st.text(min_size=1))
def test_scoped_identities_are_unambiguous(name: str, tag: str | None, other: str) -> None:
    try:
        identity = make_scoped_entity_id(name, tag)
    except ScopeError:
        assert "\x1f" in name or "\0" in name
        return
    assert split_scoped_entity_id(identity) == (name, tag)
    if "\x1f" not in other and "\0" not in other and other != name:
        assert make_scoped_entity_id(other, tag) != identity
        assert make_entity_vdb_id(other, tag) != make_entity_vdb_id(name, tag)


# --- summaries of graph objects ------------------------------------------------------------------------------------


@THOROUGH
@given(st.lists(metadatas(), min_size=1, max_size=4), filters(), st.booleans())
def test_summary_gate_never_hides_an_object_with_an_eligible_contributor(
    documents: list[Json | None], filter: Json, skip_open_bounds: bool
) -> None:
    row = summarise(documents).to_fields(skip_open_bounds=skip_open_bounds)
    eligible = any(document_matches_filter(metadata, filter, doc_id="doc-0") for metadata in documents)
    event(f"eligible: {eligible}")
    asks_for_clean_union = any(
        part.apply_forbidden_tags_to_kg and not set(part.forbidden_tags).isdisjoint(row["filter_tags"])
        for part in (as_filter(filter), *as_filter(filter).all_of)
    )
    passes = evaluate(summary_predicate(filter), row)
    assert passes or not eligible or asks_for_clean_union
    assert not (passes and asks_for_clean_union)
    assert evaluate(build_backend_filter_expr(filter, for_summaries=True), row) is passes


@UNTIMED
@given(metadatas(), date_filters)
def test_summary_of_one_document_is_exact_for_overlap(metadata: Json | None, dates: Json) -> None:
    plain = {**dates, "range_mode": "overlap", "shape": "any"}
    if plain.get("range") and any(text[23:26] not in ("", "000") for text in _fractions(metadata, plain)):
        return  # summaries are kept to whole milliseconds
    row = summarise([metadata]).to_fields()
    accepted = document_matches_date_filter(metadata, plain)
    assert evaluate(summary_predicate({"date_filter": plain}), row) is accepted


def _fractions(metadata: Json | None, dates: Json) -> list[str]:
    stored = [value for key, value in (metadata or {}).items() if key.endswith("_date")]
    moments = [parse_stored_datetime(text) for text in (*stored, *dates["range"].values())]
    return [moment.strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0") for moment in moments]


@UNTIMED
@given(st.lists(metadatas(), max_size=6), st.data(), st.booleans())
def test_summaries_do_not_depend_on_order_or_on_steps(
    documents: list[Json | None], data: st.DataObject, skip_open_bounds: bool
) -> None:
    whole = summarise(documents)
    assert summarise(data.draw(st.permutations(documents))) == whole
    cut = data.draw(st.integers(0, len(documents)))
    stored = summarise(documents[:cut]).to_fields(skip_open_bounds=skip_open_bounds)
    extended = FilterSummary.from_fields(stored).extend(documents[cut:])
    assert extended.to_fields(skip_open_bounds=skip_open_bounds) == whole.to_fields(skip_open_bounds=skip_open_bounds)


@UNTIMED
@given(
    st.lists(st.sets(st.sampled_from(TAGS)), min_size=1, max_size=3),
    st.sets(st.sampled_from(TAGS)),
    st.sets(st.sampled_from(TAGS)),
    st.booleans(),
    st.sampled_from(["and", "or"]),
)
def test_union_of_tags_agrees_with_the_summary_predicate(
    documents: list[set[str]], required: set[str], forbidden: set[str], apply: bool, mode: str
) -> None:
    row = summarise([{"user_tags": sorted(tags)} for tags in documents]).to_fields()
    filter = as_filter(
        {
            "required_tags": sorted(required),
            "forbidden_tags": sorted(forbidden),
            "required_tags_mode": mode,
            "apply_forbidden_tags_to_kg": apply,
        }
    )
    by_tags = kg_union_tags_match(row["filter_tags"], required, forbidden, apply, filter.required_tags_mode)
    assert evaluate(summary_predicate(filter), row) is by_tags


# --- keys ----------------------------------------------------------------------------------------------------------


@UNTIMED
@given(filters(), st.data())
def test_keys_do_not_depend_on_the_order_of_lists(filter: Json, data: st.DataObject) -> None:
    shuffled = {
        name: data.draw(st.permutations(value)) if isinstance(value, list) else value for name, value in filter.items()
    }
    assert canonical_key(document_predicate(shuffled)) == canonical_key(document_predicate(filter))
    assert build_filter_cache_hash(as_filter(shuffled)) == build_filter_cache_hash(as_filter(filter))


@UNTIMED
@given(filters(), filters(), metadatas())
def test_filters_with_one_key_accept_the_same_documents(one: Json, other: Json, metadata: Json | None) -> None:
    keys = [build_filter_cache_hash(as_filter(filter)) for filter in (one, other)]
    if document_matches_filter(metadata, one) is not document_matches_filter(metadata, other):
        assert keys[0] != keys[1]


@UNTIMED
@given(filters(), metadatas())
def test_an_inactive_filter_accepts_everything(filter: Json, metadata: Json | None) -> None:
    if not has_active_filters(as_filter(filter)):
        assert document_matches_filter(metadata, filter)
        assert build_filter_cache_hash(as_filter(filter)) is None


# --- the predicate tree --------------------------------------------------------------------------------------------


@UNTIMED
@given(predicates, rows)
def test_normal_form_means_the_same(predicate: Predicate, row: Json) -> None:
    normal = normalise(predicate)
    assert evaluate(normal, row) is evaluate(predicate, row)
    assert normalise(normal) == normal


@UNTIMED
@given(predicates, rows)
def test_not_is_the_exact_complement(predicate: Predicate, row: Json) -> None:
    assert evaluate(Not(predicate), row) is not evaluate(predicate, row)
    assert evaluate(normalise(Not(predicate)), row) is not evaluate(predicate, row)


@UNTIMED
@given(predicates, predicates, rows)
def test_de_morgan(one: Predicate, other: Predicate, row: Json) -> None:
    assert evaluate(Not(And((one, other))), row) is evaluate(Or((Not(one), Not(other))), row)
    assert evaluate(Not(Or((one, other))), row) is evaluate(And((Not(one), Not(other))), row)
    assert canonical_key(Not(And((one, other)))) == canonical_key(Or((Not(one), Not(other))))
    assert canonical_key(Not(Or((one, other)))) == canonical_key(And((Not(one), Not(other))))


@UNTIMED
@given(st.lists(predicates, max_size=4), st.data())
def test_keys_do_not_depend_on_order_or_repetition(parts: list[Predicate], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(parts))
    for kind in (And, Or):
        assert canonical_key(kind(tuple(shuffled))) == canonical_key(kind((*parts, *parts)))


@UNTIMED
@given(predicates, predicates, rows)
def test_equal_keys_mean_equal_answers(one: Predicate, other: Predicate, row: Json) -> None:
    if evaluate(one, row) is not evaluate(other, row):
        assert canonical_key(one) != canonical_key(other)
