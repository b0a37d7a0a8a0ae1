"""Bodies of the query routes."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from lightrag.api.schemas.base import RequestModel, ResponseModel
from lightrag.api.schemas.filters import FilterFields
from lightrag.contracts.query import QueryMode, QueryParam

MAX_TOTAL_CHARS = 131_072
LEAST_QUERY_WEIGHT = 3
# Clients of older versions still send these, and no version has heeded them for long. None of them narrows a question.
RETIRED_FIELDS = frozenset(
    {"history_turns", "ids", "max_token_for_global_context", "max_token_for_local_context", "max_token_for_text_unit"}
)
_NOT_PARAMETERS = {"query", "include_chunk_content", "include_progress", "stream", "include_references"}


class HistoryMessage(RequestModel):
    """A message before the question."""

    role: str = Field(max_length=64, description="Who said it: user or assistant.", examples=["user"])
    content: str = Field(
        max_length=32_768, description="What was said, characters.", examples=["Who built the bridge?"]
    )


class QueryRequest(FilterFields):
    """A question with everything that shapes its answer. A field that is left out or null has the server's default."""

    query: str = Field(
        min_length=1,
        max_length=65_536,
        description="The question, characters. All modes but bypass need at least 3 letters, or 2 of Chinese, "
        "Japanese or Korean.",
        examples=["Which acts were in force in Velmouth in 1931?"],
    )
    mode: QueryMode | None = Field(
        None,
        description="How it is answered: local from entities, global from relations, hybrid from both, naive from "
        "chunks, mix (default) from all, bypass without the corpus.",
        examples=["mix"],
    )
    only_need_context: bool | None = Field(
        None, description="Return the context instead of an answer.", examples=[False]
    )
    only_need_prompt: bool | None = Field(
        None, description="Return the whole prompt instead of an answer.", examples=[False]
    )
    response_type: str | None = Field(
        None,
        min_length=1,
        max_length=512,
        description="Form of the answer, in words.",
        examples=["Multiple Paragraphs"],
    )
    top_k: int | None = Field(None, ge=1, le=1000, description="Entities or relations looked up, count.", examples=[40])
    chunk_top_k: int | None = Field(None, ge=1, le=1000, description="Chunks at the most, count.", examples=[20])
    max_entity_tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="Budget of the entities in the context, tokens.", examples=[6000]
    )
    max_relation_tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="Budget of the relations in the context, tokens.", examples=[8000]
    )
    max_total_tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="Budget of the whole prompt, tokens.", examples=[30000]
    )
    hl_keywords: list[str] | None = Field(
        None, max_length=64, description="High-level keywords; with any given, no model is asked for them.",
        examples=[["harbour law"]],
    )  # fmt: skip
    ll_keywords: list[str] | None = Field(
        None, max_length=64, description="Low-level keywords: names and terms.", examples=[["Velmouth"]]
    )
    conversation_history: list[HistoryMessage] | None = Field(
        None, max_length=128, description="Messages before the question, oldest first.",
        examples=[[{"role": "user", "content": "Who built the bridge?"}]],
    )  # fmt: skip
    user_prompt: str | None = Field(
        None, max_length=32_768, description="Further instruction for the answer.", examples=["Answer in French."]
    )
    disable_user_prompt_prefix: bool | None = Field(
        None, description="Leave out the prefix that the server puts before user prompts.", examples=[False]
    )
    enable_rerank: bool | None = Field(
        None, description="Rerank chunks, where the server has a reranker.", examples=[True]
    )
    include_references: bool | None = Field(
        None, description="Return the sources of the answer; true when left out.", examples=[True]
    )
    include_chunk_content: bool | None = Field(
        None, description="Return the text of the chunks with each reference.", examples=[False]
    )
    include_progress: bool | None = Field(
        None, description="In a stream, also send a line when a step begins.", examples=[False]
    )
    include_document_metadata: bool | None = Field(
        None, description="Show the dates and tags of each reference to the model.", examples=[False]
    )
    stream: bool | None = Field(
        None, description="On /query/stream: send the answer in pieces; true when left out.", examples=[True]
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_retired_fields(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        if data.get("ids"):
            raise ValueError("ids is no field any more; send search_filters with document_ids")
        return {name: value for name, value in data.items() if name not in RETIRED_FIELDS}

    @field_validator("query")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("query is blank; send a question")
        return value.strip()

    @field_validator("hl_keywords", "ll_keywords")
    @classmethod
    def _short_keywords(cls, value: list[str] | None) -> list[str] | None:
        for word in value or ():
            if len(word) > 512:
                raise ValueError(f"a keyword has {len(word)} characters; allowed are 512")
        return value

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.mode != "bypass" and _weight(self.query) < LEAST_QUERY_WEIGHT:
            raise ValueError(f"query {self.query!r} is too short; send at least 3 letters, or use mode 'bypass'")
        total = len(self.query) + len(self.user_prompt or "")
        total += sum(len(message.content) for message in self.conversation_history or ())
        if total > MAX_TOTAL_CHARS:
            raise ValueError(f"all texts together have {total} characters; allowed are {MAX_TOTAL_CHARS}")
        return self

    @property
    def with_references(self) -> bool:
        """Whether references are returned."""
        return self.include_references is not False

    def to_param(self, *, stream: bool = False) -> QueryParam:
        """Return the parameters for the engine; what was not sent has the engine's default."""
        given = {name: value for name, value in self.given().items() if name not in _NOT_PARAMETERS}
        if self.conversation_history is not None:
            given["conversation_history"] = [message.model_dump() for message in self.conversation_history]
        return QueryParam(**given, stream=stream, include_references=self.with_references)


def _weight(text: str) -> int:
    """Count characters; one of Chinese, Japanese or Korean says as much as two letters."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


class Reference(ResponseModel):
    """A source of the answer."""

    reference_id: str = Field(description="Number by which the answer names it, from 1.", examples=["1"])
    file_path: str = Field(description="Path of the document.", examples=["archive/act-1928-harbour-and-bridge.md"])
    content: list[str] | None = Field(
        None, description="Texts of its chunks, if asked for.", examples=[["The Harbour Act of 1903 is repealed."]]
    )


class QueryResponse(ResponseModel):
    """An answer."""

    response: str = Field(
        description="The answer; it ends with [no-context] when nothing was found.",
        examples=["A ship owes four pence a ton [1]."],
    )
    references: list[Reference] | None = Field(
        description="Its sources; null when not asked for.",
        examples=[[{"reference_id": "1", "file_path": "archive/act-1903.md", "content": None}]],
    )
    response_time: float = Field(description="How long it took, seconds.", examples=[1.204])
    llm_generated: bool = Field(description="Whether a model wrote it.", examples=[True])
    cut_off: bool = Field(
        False, description="Whether it stops at the model's length limit; sent only when it does.", examples=[True]
    )


class QueryData(ResponseModel):
    """What an answer would be based on; every list is empty, or all are missing, when nothing was found."""

    entities: list[dict[str, Any]] | None = Field(
        None,
        description="entity_name, entity_type, description, source_id, file_path, created_at of each.",
        examples=[[{"entity_name": "Velmouth", "entity_type": "place"}]],
    )
    relationships: list[dict[str, Any]] | None = Field(
        None,
        description="src_id, tgt_id, description, keywords, weight, source_id, file_path, created_at of each.",
        examples=[[{"src_id": "Ada", "tgt_id": "Engine", "keywords": "program", "weight": 1.0}]],
    )
    chunks: list[dict[str, Any]] | None = Field(
        None,
        description="reference_id, content, file_path, chunk_id of each.",
        examples=[[{"reference_id": "1", "content": "Dues...", "file_path": "archive/act-1903.md", "chunk_id": "c-1"}]],
    )
    references: list[Reference] | None = Field(
        None,
        description="Sources of the chunks.",
        examples=[[{"reference_id": "1", "file_path": "archive/act-1903.md"}]],
    )


class QueryDataResponse(ResponseModel):
    """Everything that an answer would be based on."""

    status: Literal["success", "failure"] = Field(description="failure when nothing was found.")
    message: str = Field(description="In words.", examples=["Query executed"])
    data: QueryData = Field(description="What was retrieved.")
    metadata: dict[str, Any] = Field(
        description="query_mode, keywords and processing_info; failure_reason and mode when nothing was found.",
        examples=[{"query_mode": "mix", "keywords": {"high_level": ["dues"], "low_level": ["ship"]}}],
    )


class PreviewResponse(ResponseModel):
    """What a filter would match."""

    active: bool = Field(description="Whether anything is filtered at all.", examples=[True])
    eligible_documents: int = Field(description="Processed documents that it accepts, count.", examples=[12])
    total_documents: int = Field(description="All processed documents, count.", examples=[30])
    eligible_chunks: int = Field(description="Chunks of the documents that it accepts, count.", examples=[48])
    examples: list[dict[str, Any]] = Field(
        description="Some of them, newest first: doc_id, file_path, start_date, end_date, tags.",
        examples=[[{"doc_id": "doc-7d1e0a", "file_path": "archive/act-1903.md", "tags": ["type:act"]}]],
    )
