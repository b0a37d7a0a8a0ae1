"""The context of an answer: what fits the budgets, under which reference, written how. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightrag.constants import UNKNOWN_ENTITY_TYPE, UNKNOWN_SOURCE
from lightrag.contracts.models import Tokenizer
from lightrag.graph.partition import name_of
from lightrag.graph.rendering import encode_line, entity_line, relation_line
from lightrag.prompts.building import ContextBlocks
from lightrag.query.document_notes import DOCUMENT_NOTES_EXPLANATION, note_text
from lightrag.query.fuse import within_budget
from lightrag.runtime.tokens import count_tokens

if TYPE_CHECKING:
    from lightrag.query.retrieve_chunks import FoundChunk
    from lightrag.query.retrieve_graph import FoundEntity, FoundRelation

# Kept free in the whole prompt for what is not counted piece by piece: message frames and the reference list.
RESERVED_TOKENS = 200
# Tokens of a chunk's JSON line beside its text, its headings and the characters that JSON escapes.
CHUNK_LINE_TOKENS = 16
# Lines are joined by a line end, which can cost a token of its own.
LINE_END_TOKENS = 1


def entity_tokens(entity: FoundEntity, tokenizer: Tokenizer) -> int:
    """Return the tokens of an entity's line; they are counted only when the graph does not hold them."""
    stored = entity.properties.get("tokens")
    if isinstance(stored, int) and stored > 0:
        return stored + LINE_END_TOKENS
    return count_tokens(tokenizer, line_of_entity(entity)) + LINE_END_TOKENS


def relation_tokens(relation: FoundRelation, tokenizer: Tokenizer) -> int:
    """Return the tokens of a relation's line; they are counted only when the graph does not hold them."""
    stored = relation.properties.get("tokens")
    if isinstance(stored, int) and stored > 0:
        return stored + LINE_END_TOKENS
    return count_tokens(tokenizer, line_of_relation(relation)) + LINE_END_TOKENS


def chunk_tokens(chunk: FoundChunk, tokenizer: Tokenizer, *, headings: bool) -> int:
    """Return at least as many tokens as a chunk's line has, from the stored count of its text."""
    content = chunk.content
    size = chunk.tokens if chunk.tokens is not None else count_tokens(tokenizer, content)
    escaped = content.count("\n") + content.count('"') + content.count("\\") + content.count("\t")
    size += CHUNK_LINE_TOKENS + 2 * escaped
    if headings and chunk.headings:
        size += count_tokens(tokenizer, chunk.headings) + CHUNK_LINE_TOKENS
    return size


def fit_chunks(chunks: Sequence[FoundChunk], tokenizer: Tokenizer, *, budget: int, headings: bool) -> list[FoundChunk]:
    """Return the chunks from the front that fit a token budget together."""
    sizes = (chunk_tokens(chunk, tokenizer, headings=headings) for chunk in chunks)
    return list(chunks[: within_budget(sizes, budget)])


def number_references(chunks: Sequence[FoundChunk]) -> list[dict[str, str]]:
    """Give every source path a number, from ``"1"``, and write it to its chunks.

    The path that most chunks come from is the first; of equals the one that appears first. Chunks of an unknown source
    get ``""``.

    Returns:
        The reference list: ``{"reference_id", "file_path"}`` in order of the numbers.
    """
    frequency = Counter(chunk.file_path for chunk in chunks if chunk.file_path != UNKNOWN_SOURCE)
    numbers = {path: str(rank) for rank, (path, _) in enumerate(frequency.most_common(), start=1)}
    for chunk in chunks:
        chunk.reference_id = numbers.get(chunk.file_path, "")
    return [{"reference_id": number, "file_path": path} for path, number in numbers.items()]


def line_of_entity(entity: FoundEntity) -> str:
    """Return the JSON line of an entity."""
    properties = entity.properties
    return entity_line(
        name_of(entity.graph_id),
        properties.get("entity_type") or UNKNOWN_ENTITY_TYPE,
        properties.get("description") or "",
    )


def line_of_relation(relation: FoundRelation) -> str:
    """Return the JSON line of a relation."""
    source, target = relation.pair
    description = relation.properties.get("description") or ""
    return relation_line(name_of(source), name_of(target), description)


def line_of_chunk(chunk: FoundChunk, *, headings: bool) -> str:
    """Return the JSON line of a chunk."""
    line: dict[str, Any] = {"reference_id": chunk.reference_id, "content": chunk.content}
    if headings and chunk.headings:
        line["content_headings"] = chunk.headings
    return encode_line(line)


def context_blocks(
    entities: Sequence[FoundEntity],
    relations: Sequence[FoundRelation],
    chunks: Sequence[FoundChunk],
    references: Sequence[Mapping[str, Any]],
    *,
    headings: bool,
) -> ContextBlocks:
    """Write everything that a model is shown."""
    return ContextBlocks(
        entities="\n".join(map(line_of_entity, entities)),
        relations="\n".join(map(line_of_relation, relations)),
        chunks="\n".join(line_of_chunk(chunk, headings=headings) for chunk in chunks),
        references=reference_lines(references),
    )


def reference_lines(references: Sequence[Mapping[str, Any]]) -> str:
    """Return the reference list as a model is shown it, with dates and tags where the references carry them."""
    lines = [f"[{item['reference_id']}] {item['file_path']}" for item in references]
    if not any("tags" in item for item in references):
        return "\n".join(lines)
    noted = [f"{line} {note_text(item)}" for line, item in zip(lines, references, strict=True)]
    return "\n".join([DOCUMENT_NOTES_EXPLANATION, *noted])
