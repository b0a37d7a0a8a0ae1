"""Shorten descriptions that have grown long, by the model, in as few calls as the context allows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind
from lightrag.exceptions import ModelError, ModelReplyError
from lightrag.graph.records import ObjectRecord
from lightrag.kg_scopes import split_scoped_entity_id
from lightrag.prompts.building import SummaryPromptOptions, summary_prompt
from lightrag.prompts.thinking import strip_thinking
from lightrag.runtime.model_set import PRIORITY_SUMMARY
from lightrag.runtime.subjects import subject_logger
from lightrag.runtime.text import sanitize_text
from lightrag.runtime.tokens import count_tokens

logger = subject_logger("lightrag.graph")

# A model that never gets shorter must not be asked for ever.
_MAX_ROUNDS = 5


def needs_summary(context: EngineContext, record: ObjectRecord) -> bool:
    """Tell whether a description has passed a threshold: number of fragments, or tokens.

    What a person wrote is not counted, since it is never rewritten.
    """
    settings = context.settings
    fragments = record.fragments
    if len(fragments) < 2:
        return False
    if len(fragments) >= settings.force_llm_summary_on_merge:
        return True
    description = GRAPH_FIELD_SEP.join(fragments)
    # A token is at least one byte, so most descriptions need no counting.
    if len(description.encode()) < settings.summary_max_tokens:
        return False
    return count_tokens(context.models.tokenizer, description) >= settings.summary_max_tokens


async def summarise_records(context: EngineContext, records: Sequence[ObjectRecord]) -> None:
    """Summarise, in place, the descriptions that have passed a threshold.

    A summary that the model fails to give leaves the fragments as they are, with a warning: nothing is lost, and the
    next document that touches the object tries again.
    """
    # Variants of an object in several scopes that say the same are summarised once.
    alike: dict[tuple[Any, ...], list[ObjectRecord]] = {}
    for record in records:
        if needs_summary(context, record):
            identity = (record.kind, _name(record), *record.fragments)
            alike.setdefault(identity, []).append(record)
    await asyncio.gather(*(_summarise(context, variants) for variants in alike.values()))


async def _summarise(context: EngineContext, variants: Sequence[ObjectRecord]) -> None:
    record = variants[0]
    parts = record.fragments
    try:
        for round_number in range(_MAX_ROUNDS):
            groups = _pack(context, parts)
            calls = (_summarise_group(context, record, group, combine=round_number > 0) for group in groups)
            parts = list(await asyncio.gather(*calls))
            if len(parts) == 1:
                break
    except ModelError as error:
        logger.warning("summary of %s %r failed, fragments kept: %s", record.kind, record.object_id, error)
        return
    for variant in variants:
        variant.parts = [*variant.own_words, *parts]


def _pack(context: EngineContext, parts: Sequence[str]) -> list[list[str]]:
    """Group neighbouring fragments so that each group fits one call; every group but the last has two or more."""
    limit = context.settings.summary_context_size
    # A token is at least one byte, so most lists fit one call without counting.
    if sum(len(part.encode()) for part in parts) <= limit:
        return [list(parts)]
    groups: list[list[str]] = [[]]
    used = 0
    for part in parts:
        tokens = count_tokens(context.models.tokenizer, part)
        if len(groups[-1]) >= 2 and used + tokens > limit:
            groups.append([])
            used = 0
        groups[-1].append(part)
        used += tokens
    return groups


async def _summarise_group(context: EngineContext, record: ObjectRecord, parts: Sequence[str], *, combine: bool) -> str:
    if len(parts) == 1:
        return parts[0]
    kind: Literal["entity", "relation"] = "entity" if record.kind is ObjectKind.ENTITY else "relation"
    name = _name(record)
    options = SummaryPromptOptions(
        summary_length=context.settings.summary_length_recommended,
        language=context.addon.get("language") or context.settings.summary_language,
        combine=combine,
    )
    prompt = summary_prompt(kind, name, parts, options)
    key = context.cache.key("default", "summary", prompt, context.models.extract.identity)
    cached = await context.cache.get(key)
    if cached is not None:
        return cached
    reply = await context.models.extract.text(prompt, priority=PRIORITY_SUMMARY)
    summary = sanitize_text(strip_thinking(reply)).replace(GRAPH_FIELD_SEP, " ")
    if not summary:
        raise ModelReplyError(f"the model returned an empty summary for {kind} {name!r}")
    await context.cache.put(key, summary, cache_type="summary")
    return summary


def _name(record: ObjectRecord) -> str:
    if record.kind is ObjectKind.ENTITY:
        return record.name
    return " - ".join(split_scoped_entity_id(end)[0] for end in record.ends())
