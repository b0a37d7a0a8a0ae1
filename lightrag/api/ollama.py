"""Answers in the form of Ollama: its models, its chat, its generation."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from lightrag.api.answers import CUT_OFF, Lines, ask, pieces_of
from lightrag.api.errors import ApiError
from lightrag.api.ollama_prefix import Prefixed, parse_prefix
from lightrag.api.schemas.ollama import ChatRequest, GenerateRequest
from lightrag.contracts.query import QueryParam
from lightrag.query_filters import build_vector_query_filter
from lightrag.runtime.tokens import count_tokens

if TYPE_CHECKING:
    from lightrag.api.metrics import Metrics
    from lightrag.engine.restricted import RestrictedEngine
    from lightrag.lightrag import LightRAG
    from lightrag.settings_api import ApiSettings

# The version of Ollama that is spoken, and what stands for the size and digest of a model that has neither.
OLLAMA_VERSION = "0.9.3"
_SIZE = 7_365_960_935
_DIGEST = "sha256:lightrag"
_DATE = "2024-01-15T00:00:00Z"
_NEVER = "2050-12-31T14:38:31.83753-07:00"
# Chat pages ask for titles and tags with the whole chat inside one message: nothing for the corpus.
_CHAT_HISTORY = "\n<chat_history>\nUSER:"

BodyT = TypeVar("BodyT", bound=BaseModel)
Kind = Literal["chat", "generate"]


@dataclass(frozen=True)
class OllamaQuestion:
    """A question for the engine.

    Attributes:
        kind: In which form the answer goes.
        model: Name of the model as asked for.
        query: The question.
        param: Its parameters.
        system_prompt: System prompt, for questions without retrieval.
    """

    kind: Kind
    model: str
    query: str
    param: QueryParam
    system_prompt: str | None = None


async def parse_body(request: Request, kind: type[BodyT]) -> BodyT:
    """Return the body of a request as a model, whatever type of content it claims to be.

    Raises:
        RequestValidationError: It is not valid.
    """
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]
        raise RequestValidationError(faults) from error


def model_name(settings: ApiSettings) -> str:
    """Return the name under which the engine appears."""
    return f"{settings.ollama_emulating_model_name}:{settings.ollama_emulating_model_tag}"


def model_entry(settings: ApiSettings) -> dict[str, Any]:
    """Return the engine as a model in the list of installed ones."""
    return {
        **_identity(settings),
        "modified_at": _DATE,
        "details": _details("lightrag", "13B"),
    }


def running_entry(settings: ApiSettings) -> dict[str, Any]:
    """Return the engine as a model in the list of running ones."""
    return {
        **_identity(settings),
        "details": _details("llama", "7.2B"),
        "expires_at": _NEVER,
        "size_vram": _SIZE,
    }


def shown_entry(settings: ApiSettings) -> dict[str, Any]:
    """Return the model as ``POST /api/show`` tells it."""
    details = model_entry(settings)["details"]
    return {
        "modelfile": f"FROM {model_name(settings)}",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "details": details,
        "model_info": {"general.architecture": details["family"]},
        "capabilities": ["completion"],
        "modified_at": _DATE,
    }


def _identity(settings: ApiSettings) -> dict[str, Any]:
    name = model_name(settings)
    return {"name": name, "model": name, "size": _SIZE, "digest": _DIGEST}


def _details(family: str, parameters: str) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": parameters,
        "quantization_level": "Q4_0",
    }


def chat_question(request: ChatRequest, *, stream: bool) -> OllamaQuestion:
    """Return the question of a chat.

    Raises:
        ApiError: The last message is not a user's, or empty (400).
        FilterSyntaxError: Its filter is not valid.
    """
    last = request.messages[-1]
    if last.role != "user":
        raise ApiError(400, f"the last message is of role {last.role!r}; it must be 'user'", "invalid_input")
    parsed = Prefixed(last.content, mode="bypass") if _CHAT_HISTORY in last.content else parse_prefix(last.content)
    if not parsed.query.strip():
        raise ApiError(400, "the last message holds no question", "invalid_input")
    build_vector_query_filter(parsed.filter)
    bypass = parsed.mode == "bypass"
    prompts = [text for text in (None if bypass else request.system, parsed.user_prompt) if text]
    param = QueryParam(
        mode=parsed.mode,
        stream=stream,
        only_need_context=parsed.only_need_context,
        user_prompt="\n".join(prompts) or None,
        conversation_history=[{"role": one.role, "content": one.content} for one in request.messages[:-1]],
        **parsed.filter,
    )
    return OllamaQuestion("chat", request.model, parsed.query, param, request.system if bypass else None)


def generate_question(request: GenerateRequest, *, stream: bool) -> OllamaQuestion:
    """Return a prompt as a question without retrieval."""
    param = QueryParam(mode="bypass", stream=stream)
    return OllamaQuestion("generate", request.model, request.prompt, param, request.system)


@dataclass
class _Clock:
    """Times and tokens of one answer, in nanoseconds and counts."""

    begin: int = field(default_factory=time.perf_counter_ns)
    first: int = 0
    text: list[str] = field(default_factory=list)

    def note(self, piece: str) -> None:
        self.first = self.first or time.perf_counter_ns()
        self.text.append(piece)

    def figures(self, engine: LightRAG | RestrictedEngine, query: str) -> dict[str, int]:
        now = time.perf_counter_ns()
        first = self.first or now
        tokenizer = engine.context.models.tokenizer
        return {
            "total_duration": now - self.begin,
            "load_duration": 0,
            "prompt_eval_count": count_tokens(tokenizer, query),
            "prompt_eval_duration": first - self.begin,
            "eval_count": count_tokens(tokenizer, "".join(self.text)),
            "eval_duration": now - first,
        }


async def whole_reply(
    engine: LightRAG | RestrictedEngine, metrics: Metrics, question: OllamaQuestion
) -> dict[str, Any]:
    """Return an answer as one object."""
    clock = _Clock()
    result = await _ask(engine, metrics, question)
    text = result["llm_response"]["content"] or ""
    clock.note(text)
    reason = "length" if result["llm_response"].get("cut_off") else "stop"
    return _object(question, text, done=True) | {"done_reason": reason} | clock.figures(engine, question.query)


async def reply_lines(engine: LightRAG | RestrictedEngine, metrics: Metrics, question: OllamaQuestion) -> Lines:
    """Yield an answer piece by piece, and the figures at the end."""
    clock = _Clock()
    result = await _ask(engine, metrics, question)
    reason = "stop"
    async for piece in _pieces(result["llm_response"]):
        if isinstance(piece, ApiError):
            if piece.code != CUT_OFF:
                yield {"error": piece.detail}
                return
            reason = "length"
            break
        clock.note(piece)
        yield _object(question, piece, done=False)
    yield _object(question, "", done=True) | {"done_reason": reason} | clock.figures(engine, question.query)


async def _ask(engine: LightRAG | RestrictedEngine, metrics: Metrics, question: OllamaQuestion) -> dict[str, Any]:
    return await ask(engine, metrics, question.query, question.param, system_prompt=question.system_prompt)


async def _pieces(answer: dict[str, Any]) -> AsyncGenerator[str | ApiError, None]:
    if not answer["is_streaming"]:
        yield answer["content"] or ""
        return
    async for piece in pieces_of(answer["response_iterator"]):
        yield piece


def _object(question: OllamaQuestion, text: str, *, done: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": question.model,
        "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
    }
    if question.kind == "chat":
        body["message"] = {"role": "assistant", "content": text, "images": None}
    else:
        body["response"] = text
    body["done"] = done
    if done:
        body["done_reason"] = "stop"
        if question.kind == "generate":
            body["context"] = []
    return body
