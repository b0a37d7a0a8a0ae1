"""The reply to an extraction prompt, made by rules."""

from __future__ import annotations

import json
import re

from lightrag.llm.offline.entities import Entity, find_entities, is_weak
from lightrag.llm.offline.relations import Relation, describe_entity, describe_relation, find_relations
from lightrag.llm.offline.sentences import Sentence, split_sentences
from lightrag.llm.offline.unspaced import find_uncased_entities, is_cased
from lightrag.prompts import PROMPTS

MAX_ENTITIES = 40
MAX_RELATIONS = 60


def extract(text: str) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, list[str], str]]]:
    """Return what a passage says, most important first.

    Args:
        text: A passage.

    Returns:
        Entities ``(name, type, description)`` and relations ``(source, target, keywords, description)``.
    """
    sentences = split_sentences(text)
    found = find_entities(sentences) if is_cased(text) else find_uncased_entities(sentences)
    relations = find_relations(sentences, found)
    related = {end for relation in relations for end in (relation.source, relation.target)}
    entities = _most_important([entity for entity in found if entity.name in related or not is_weak(entity)])
    names = {entity.name for entity in entities}
    kept = [relation for relation in relations if relation.source in names and relation.target in names][:MAX_RELATIONS]
    return _described(entities, sentences), _explained(kept, sentences)


def _most_important(entities: list[Entity]) -> list[Entity]:
    if len(entities) <= MAX_ENTITIES:
        return entities
    ranked = sorted(entities, key=lambda entity: (entity.type == "date", -len(entity.places)))
    names = {entity.name for entity in ranked[:MAX_ENTITIES]}
    return [entity for entity in entities if entity.name in names]


def _described(entities: list[Entity], sentences: list[Sentence]) -> list[tuple[str, str, str]]:
    return [(entity.name, entity.type, describe_entity(entity, sentences)) for entity in entities]


def _explained(relations: list[Relation], sentences: list[Sentence]) -> list[tuple[str, str, list[str], str]]:
    return [
        (relation.source, relation.target, relation.keywords, describe_relation(relation, sentences))
        for relation in relations
    ]


def extraction_reply(text: str, *, as_json: bool) -> str:
    """Return the reply to an extraction prompt.

    Args:
        text: The passage.
        as_json: The prompt asks for JSON, not for rows.
    """
    entities, relations = extract(text)
    if as_json:
        return json.dumps(
            {
                "entities": [{"name": name, "type": kind, "description": told} for name, kind, told in entities],
                "relationships": [
                    {"source": source, "target": target, "keywords": ", ".join(keywords), "description": told}
                    for source, target, keywords, told in relations
                ],
            },
            ensure_ascii=False,
        )
    rows: list[tuple[str, ...]] = [("entity", name, kind, told) for name, kind, told in entities]
    rows += [("relation", source, target, ", ".join(keywords), told) for source, target, keywords, told in relations]
    delimiter = str(PROMPTS["DEFAULT_TUPLE_DELIMITER"])
    lines = [delimiter.join(_field(part, delimiter) for part in row) for row in rows]
    return "\n".join([*lines, str(PROMPTS["DEFAULT_COMPLETION_DELIMITER"])])


def empty_reply(*, as_json: bool) -> str:
    """Return the reply that says that nothing was missed."""
    if as_json:
        return json.dumps({"entities": [], "relationships": []})
    return str(PROMPTS["DEFAULT_COMPLETION_DELIMITER"])


def _field(text: str, delimiter: str) -> str:
    return re.sub(r"\s+", " ", text).replace(delimiter, " ").strip()
