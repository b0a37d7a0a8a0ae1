"""Reading extraction replies that are JSON, whole, damaged or cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lightrag.ingest.reply_fields import ExtractionReply
from lightrag.llm.replies import JSON_START, json_values, mend_escapes, repair_json, snippet

_ENTITY_LISTS = frozenset({"entities", "entity", "entity_list", "nodes"})
_RELATION_LISTS = frozenset({"relationships", "relations", "relationship", "relation", "edges", "relation_list"})
_NAME_KEYS = ("entity_name", "name", "entity", "title", "label")
_TYPE_KEYS = ("entity_type", "type", "category")
_ENTITY_TEXT_KEYS = ("entity_description", "description", "desc", "summary")
_SOURCE_KEYS = (
    "source_entity",
    "source",
    "src",
    "src_id",
    "source_name",
    "from",
    "head",
    "entity1",
    "subject",
)
_TARGET_KEYS = ("target_entity", "target", "tgt", "tgt_id", "target_name", "to", "tail", "entity2", "object")
_KEYWORD_KEYS = (
    "relationship_keywords",
    "relation_keywords",
    "keywords",
    "keyword",
    "relation",
    "relationship_type",
)
_RELATION_TEXT_KEYS = ("relationship_description", "relation_description", "description", "desc", "summary")
_WEIGHT_KEYS = ("weight", "relationship_strength", "strength", "score")

_RECORD_KEYS = "|".join((*_NAME_KEYS, *_TYPE_KEYS, *_SOURCE_KEYS, *_TARGET_KEYS))
_RECORD_START = re.compile(rf"\{{\s*[\"'“”]?(?:{_RECORD_KEYS})[\"'“”]?\s*[:：]", re.IGNORECASE)
_KNOWN_KEY = re.compile(
    rf"[\"'“”](?:{'|'.join((*_ENTITY_LISTS, *_RELATION_LISTS))}|{_RECORD_KEYS})[\"'“”]\s*[:：]", re.IGNORECASE
)
_RECORD_END = re.compile(r"(?<=[\"'”\d\]])\s*\}(?=\s*(?:[\],}]|\Z))")
_POSITIONS = ("source", "target", "keywords", "description", "weight")
_MAX_DEPTH = 12


def has_known_keys(text: str) -> bool:
    """Tell whether a text holds a key that JSON replies have."""
    return _KNOWN_KEY.search(text) is not None


def starts_like_json(text: str) -> bool:
    """Tell whether the first thing in a text is a JSON object or array."""
    return text.lstrip()[:1] in ("{", "[")


def read_json(text: str, reply: ExtractionReply) -> None:
    r"""Add the records of a text to a reply, and tell whether it is complete, usable and cut off.

    JSON that is whole is read as it is. Otherwise each record is read alone, so that damage to one costs only
    that one.

    Args:
        text: Reply without reasoning and code fences, lines ended by ``\n``.
        reply: Filled in place.
    """
    text = mend_escapes(text)
    before = len(reply.entities) + len(reply.relations)
    warned = len(reply.warnings)
    values = json_values(text)
    empty = False
    if values is None:
        _read_damaged(text, reply)
    else:
        empties = [_read_value(value, "", reply, 0) for value in values]
        empty = any(empties) and len(reply.warnings) == warned
    reply.usable = len(reply.entities) + len(reply.relations) > before or empty
    reply.complete = reply.usable and not reply.cut_off


def _read_value(value: Any, container: str, reply: ExtractionReply, depth: int) -> bool:
    """Read the records in a value, at whatever depth; tell whether it holds a list of records that is empty.

    Args:
        value: Any JSON value.
        container: ``"entity"`` or ``"relation"`` inside a list of such, else ``""``.
        reply: Filled in place.
        depth: How deep the value stands.
    """
    if depth > _MAX_DEPTH or not isinstance(value, dict | list):
        return False
    if isinstance(value, list):
        if not container:
            inner = [_read_value(item, "", reply, depth + 1) for item in value]
            return any(inner)
        for item in value:
            _read_item(item, container, reply)
        return not value
    record = {_plain_key(key): item for key, item in value.items()}
    if _is_record(record):
        _read_record(record, reply)
        return False
    if container:
        for name, item in value.items():
            _read_item({"name": name, **item} if isinstance(item, dict) else item, container, reply)
        return not value
    inner = [_read_value(item, _container_of(key), reply, depth + 1) for key, item in record.items()]
    return any(inner)


def _read_item(item: Any, container: str, reply: ExtractionReply) -> None:
    """Read one element of a list of entities or relations: an object, or a list of its fields in order."""
    if isinstance(item, dict):
        record = {_plain_key(key): value for key, value in item.items()}
    elif isinstance(item, list):
        keys = ("name", "type", "description") if container == "entity" else _POSITIONS
        record = dict(zip(keys, item, strict=False))
    else:
        record = {}
    if _is_record(record):
        _read_record(record, reply)
    else:
        reply.warnings.append(f"{container} without its keys dropped: {snippet(str(item))!r}")


def _read_record(record: Mapping[str, Any], reply: ExtractionReply) -> None:
    where = f"record {len(reply.entities) + len(reply.relations) + 1}"
    source, target = _pick(record, _SOURCE_KEYS), _pick(record, _TARGET_KEYS)
    if source is not None and target is not None:
        keywords = _pick(record, _KEYWORD_KEYS)
        weight = _pick(record, _WEIGHT_KEYS)
        text = _as_text(_pick(record, _RELATION_TEXT_KEYS))
        reply.add_relation((_as_text(source), _as_text(target)), keywords, text, weight, where=where)
        return
    name = _as_text(_pick(record, _NAME_KEYS))
    text = _as_text(_pick(record, _ENTITY_TEXT_KEYS))
    reply.add_entity(name, _as_text(_pick(record, _TYPE_KEYS)), text, where=where)


def _read_damaged(text: str, reply: ExtractionReply) -> None:
    """Read each record of damaged JSON by itself, and find out whether the end is missing."""
    starts = [match.start() for match in _RECORD_START.finditer(text)]
    if not starts:
        _read_repaired_whole(text, reply)
        return
    decoder = json.JSONDecoder(strict=False)
    tail = ""
    for number, start in enumerate(starts, 1):
        last = number == len(starts)
        fragment = text[start : len(text) if last else starts[number]]
        try:
            value, end = decoder.raw_decode(fragment)
        except (ValueError, RecursionError):
            end = _end_of_record(fragment, last)
            if last and not end:
                reply.cut_off = True
                reply.warnings.append(f"last record is cut off, dropped: {snippet(fragment)!r}")
                return
            value = repair_json(fragment[: end or len(fragment)])
            reply.warnings.append(f"damaged record {'read' if value else 'dropped'}: {snippet(fragment)!r}")
        tail = fragment[end:]
        _read_value(value, "", reply, 0)
    opening = JSON_START.search(text)
    if opening and opening.start() < starts[0]:
        closing = "}" if text[opening.start()] == "{" else "]"
        reply.cut_off = closing not in tail
        if reply.cut_off:
            reply.warnings.append(f"the JSON is not closed; it ends {snippet(text[-60:])!r}")


def _end_of_record(fragment: str, last: bool) -> int:
    """Return where a damaged record ends; 0 when its brace is missing.

    Behind the last record stand the braces that close the whole, so there the first one that follows a
    value counts.
    """
    closing = _RECORD_END.search(fragment) if last else None
    return closing.end() if closing else fragment.rfind("}") + 1


def _read_repaired_whole(text: str, reply: ExtractionReply) -> None:
    opening = JSON_START.search(text)
    if opening is None:
        return
    body = text[opening.start() :]
    closing = "}" if body[0] == "{" else "]"
    reply.cut_off = closing not in body
    reply.warnings.append(f"damaged JSON: {snippet(body)!r}")
    if not reply.cut_off:
        _read_value(repair_json(body), "", reply, 0)


def _plain_key(key: str) -> str:
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def _container_of(key: str) -> str:
    if key in _ENTITY_LISTS:
        return "entity"
    return "relation" if key in _RELATION_LISTS else ""


def _is_record(record: Mapping[str, Any]) -> bool:
    """Tell whether an object is a record, with ends or a name, and not a wrapper around some."""
    if _pick(record, _SOURCE_KEYS) is not None and _pick(record, _TARGET_KEYS) is not None:
        return True
    return isinstance(_pick(record, _NAME_KEYS), str | int | float)


def _pick(record: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the value of the first of several keys that is there and is no object."""
    for key in keys:
        value = record.get(key)
        if value is not None and not isinstance(value, dict):
            return value
    return None


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(item) for item in value if isinstance(item, str | int | float))
    return "" if value is None else str(value)
