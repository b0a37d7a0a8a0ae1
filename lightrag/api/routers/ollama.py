"""Routes that speak as Ollama does, so that chat programs can ask the corpus."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from lightrag.api import ollama
from lightrag.api.deps import Authenticated, EngineDep, GuardedRoute, MetricsDep, SettingsDep
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.ollama import ChatRequest, GenerateRequest
from lightrag.api.streaming import NDJSONResponse, first_then_rest, unless_gone

router = APIRouter(
    prefix="/api", tags=["ollama"], route_class=GuardedRoute, dependencies=[Authenticated], responses=ERROR_RESPONSES
)


def _body(model: type[BaseModel]) -> dict[str, Any]:
    """Describe a body that is read whatever type of content it claims to be."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    for name, definition in schema.pop("$defs", {}).items():
        schema = _inlined(schema, f"#/components/schemas/{name}", definition)
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _inlined(node: Any, reference: str, definition: dict[str, Any]) -> Any:
    if isinstance(node, dict):
        if node.get("$ref") == reference:
            return definition
        return {name: _inlined(value, reference, definition) for name, value in node.items()}
    return [_inlined(item, reference, definition) for item in node] if isinstance(node, list) else node


_REPLY: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One object, or with stream one object per line, the last with done and figures.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }
}


@router.get("/version")
async def get_ollama_version() -> dict[str, str]:
    """Tell which version of Ollama is spoken."""
    return {"version": ollama.OLLAMA_VERSION}


@router.get("/tags")
async def get_ollama_tags(settings: SettingsDep) -> dict[str, list[dict[str, Any]]]:
    """List the models: the corpus."""
    return {"models": [ollama.model_entry(settings)]}


@router.get("/ps")
async def get_ollama_running_models(settings: SettingsDep) -> dict[str, list[dict[str, Any]]]:
    """List the running models: the corpus."""
    return {"models": [ollama.running_entry(settings)]}


@router.post("/show")
async def show_ollama_model(settings: SettingsDep) -> dict[str, Any]:
    """Tell what the model is and can do, whichever name is asked for; chat programs ask before they offer it."""
    return ollama.shown_entry(settings)


@router.post("/generate", responses=_REPLY, openapi_extra=_body(GenerateRequest))
async def ollama_generate(request: Request, engine: EngineDep, metrics: MetricsDep) -> Response:
    """Send a prompt straight to the language model, without retrieval."""
    body = await ollama.parse_body(request, GenerateRequest)
    question = ollama.generate_question(body, stream=bool(body.stream))
    if question.param.stream:
        return NDJSONResponse(await first_then_rest(request, ollama.reply_lines(engine, metrics, question)))
    return JSONResponse(await unless_gone(request, ollama.whole_reply(engine, metrics, question)))


@router.post("/chat", responses=_REPLY, openapi_extra=_body(ChatRequest))
async def ollama_chat(request: Request, engine: EngineDep, metrics: MetricsDep) -> Response:
    """Answer the last message of a chat from the documents.

    It may begin with a mode (/local, /global, /hybrid, /naive, /mix, /bypass; with "context" added for the context
    only), an instruction in brackets, and /filter{...} with the filter fields of POST /query.
    """
    body = await ollama.parse_body(request, ChatRequest)
    question = ollama.chat_question(body, stream=body.stream is not False)
    if question.param.stream:
        return NDJSONResponse(await first_then_rest(request, ollama.reply_lines(engine, metrics, question)))
    return JSONResponse(await unless_gone(request, ollama.whole_reply(engine, metrics, question)))
