"""Step ``extract``: what every chunk says about entities and relations, by the model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from lightrag.constants import GRAPH_FIELD_SEP, UNKNOWN_ENTITY_TYPE
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.exceptions import ModelError, ModelReplyError
from lightrag.ingest.announce import announce_chunk
from lightrag.ingest.options import ProcessOptions
from lightrag.ingest.replies import EntityMention, ExtractionReply, RelationMention, parse_extraction_reply
from lightrag.ingest.work import Chunk, DocumentWork
from lightrag.prompts.building import ExtractionPromptOptions, PromptPair, extraction_prompts, gleaning_prompt
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.subjects import subject_logger

logger = subject_logger("lightrag.ingest")

# How often a reply that is cut off or unusable is asked for before the document fails.
_ATTEMPTS = 3
_WARNINGS_KEPT = 20


@dataclass(slots=True)
class Mentions:
    """What one chunk says, each entity and relation once; the longer description of several wins."""

    entities: dict[str, EntityMention] = field(default_factory=dict)
    relations: dict[str, RelationMention] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, reply: ExtractionReply) -> None:
        """Take what a reply says."""
        for entity in reply.entities:
            known = self.entities.get(entity.name)
            if known is None or len(entity.description) > len(known.description):
                self.entities[entity.name] = entity
        for relation in reply.relations:
            key = relation_key(relation.source, relation.target)
            known_relation = self.relations.get(key)
            if known_relation is None or len(relation.description) > len(known_relation.description):
                self.relations[key] = relation
        self.warnings.extend(reply.warnings)


async def extract_document(context: EngineContext, work: DocumentWork) -> None:
    """Ask the model about every chunk, several at a time, and turn the replies into evidence.

    Raises:
        ModelError: A chunk could not be extracted whole; the message names it.
    """
    if ProcessOptions.from_row(work.full_doc).skip_graph:
        work.notes["skip_kg"] = True
        return
    options = _prompt_options(context)
    mentions = await _all_chunks(context, options, work.chunks)
    work.evidence = evidence_rows(work, mentions)
    warnings = [warning for found in mentions for warning in found.warnings]
    if warnings:
        work.notes["extraction_warnings"] = len(warnings)
        work.notes["extraction_warning_samples"] = warnings[:_WARNINGS_KEPT]
        logger.info("document %s: %d warnings in extraction replies", work.doc_id, len(warnings))


def _prompt_options(context: EngineContext) -> ExtractionPromptOptions:
    settings = context.settings
    return ExtractionPromptOptions(
        language=context.addon.get("language") or settings.summary_language,
        entity_types_guidance=context.addon.get("entity_types_guidance"),
        use_json=settings.entity_extraction_use_json,
        max_records=settings.entity_extract_max_records,
        max_entities=settings.entity_extract_max_entities,
    )


async def _all_chunks(
    context: EngineContext, options: ExtractionPromptOptions, chunks: Sequence[Chunk]
) -> list[Mentions]:
    """Extract all chunks; the first that fails stops the others, whose finished replies stay cached."""
    calls = (_extract_numbered(context, options, chunk, len(chunks)) for chunk in chunks)
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _extract_numbered(
    context: EngineContext, options: ExtractionPromptOptions, chunk: Chunk, total: int
) -> Mentions:
    try:
        found = await _extract_chunk(context, options, chunk)
        announce_chunk(context, chunk, total, len(found.entities), len(found.relations))
        return found
    except ModelError as error:
        raise ModelError(f"C[{chunk.order + 1}/{total}]: {chunk.chunk_id}: {error}") from error


async def _extract_chunk(context: EngineContext, options: ExtractionPromptOptions, chunk: Chunk) -> Mentions:
    found = Mentions()
    prompts = extraction_prompts(chunk.content, options)
    text, reply = await _whole_reply(context, options, chunk, prompts, ())
    found.add(reply)
    history = [{"role": "user", "content": prompts.user}, {"role": "assistant", "content": text}]
    for _ in range(context.settings.entity_extract_max_gleaning):
        # A token is at least one byte, so the bytes bound the tokens.
        if sum(len(message["content"].encode()) for message in history) > context.settings.max_extract_input_tokens:
            logger.info("chunk %s is too long to ask what was missed", chunk.chunk_id)
            break
        question = PromptPair(prompts.system, gleaning_prompt(options))
        text, reply = await _whole_reply(context, options, chunk, question, history)
        if not reply.entities and not reply.relations:
            break
        found.add(reply)
        history += [{"role": "user", "content": question.user}, {"role": "assistant", "content": text}]
    return found


async def _whole_reply(
    context: EngineContext,
    options: ExtractionPromptOptions,
    chunk: Chunk,
    prompts: PromptPair,
    history: Sequence[dict[str, str]],
) -> tuple[str, ExtractionReply]:
    """Return a reply that is whole: the cached one, or the first whole one of a few attempts.

    A reply in words to "what was missed" says that nothing was.

    Raises:
        ModelReplyError: Every attempt was cut off or unusable.
    """
    cache, model = context.cache, context.models.extract
    earlier = [message["content"] for message in history]
    system = _digest(prompts.system)
    key = cache.key("default", "extract", model.identity, options.use_json, system, prompts.user, *earlier)
    if key not in chunk.cache_ids:
        chunk.cache_ids.append(key)
    caching = context.settings.enable_llm_cache_for_entity_extract
    cached = await cache.get(key) if caching else None
    if cached is not None:
        return cached, parse_extraction_reply(cached)
    extra = {"response_format": {"type": "json_object"}} if options.use_json else {}
    problem, text = "", ""
    for _ in range(_ATTEMPTS):
        try:
            text = await model.text(prompts.user, system_prompt=prompts.system, history=history, **extra)
        except ModelReplyError as error:
            # The binding itself saw that the reply ended at its length limit, or is none.
            problem, text = f"cannot be used ({error})", ""
            continue
        reply = parse_extraction_reply(text)
        if not reply.cut_off and (reply.usable or history):
            if caching:
                await cache.put(key, text, cache_type="extract", chunk_id=chunk.chunk_id)
            return text, reply
        problem = "was cut off" if reply.usable else "holds no usable record"
        logger.info("chunk %s: the model's reply %s", chunk.chunk_id, problem)
    raise ModelReplyError(f"the model's reply {problem} in {_ATTEMPTS} attempts; it begins {text[:120]!r}")


@lru_cache(maxsize=16)
def _digest(system_prompt: str) -> str:
    """Return the hash of a system prompt, which is long and the same for all chunks."""
    return compute_mdhash_id(system_prompt)


def evidence_rows(work: DocumentWork, mentions: Sequence[Mentions]) -> list[Evidence]:
    """Return the evidence of a document for the aggregate, in order of its chunks.

    A relation's end that the document never describes becomes an entity of unknown type, so that an edge is never
    without its ends.
    """
    now = int(time.time())
    described = {name for found in mentions for name in found.entities}
    rows: list[Evidence] = []
    for chunk, found in zip(work.chunks, mentions, strict=True):
        base = {
            "chunk_id": chunk.chunk_id,
            "document_id": work.doc_id,
            "file_path": work.row.file_path,
            "created_at": now,
        }
        for entity in found.entities.values():
            rows.append(_entity_row(entity.name, entity.type, entity.description, base))
        for key, relation in found.relations.items():
            for end in (relation.source, relation.target):
                if end not in described:
                    described.add(end)
                    rows.append(_entity_row(end, UNKNOWN_ENTITY_TYPE, "", base))
            rows.append(
                Evidence(
                    kind=ObjectKind.RELATION,
                    object_id=key,
                    description=relation.description.replace(GRAPH_FIELD_SEP, " "),
                    keywords=",".join(relation.keywords),
                    weight=relation.weight,
                    **base,  # type: ignore[arg-type]
                )
            )
    return rows


def _entity_row(name: str, entity_type: str, description: str, base: dict[str, object]) -> Evidence:
    return Evidence(
        kind=ObjectKind.ENTITY,
        object_id=name,
        description=description.replace(GRAPH_FIELD_SEP, " "),
        entity_type=entity_type,
        **base,  # type: ignore[arg-type]
    )
