"""Models on Amazon Bedrock, by its Converse interface; embeddings of Amazon Titan and Cohere there."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import ModelReplyError
from lightrag.llm.aws_events import event_messages
from lightrag.llm.aws_requests import BedrockPlace
from lightrag.llm.binding import bound_embedding, bound_llm
from lightrag.llm.chat import ChatOptions, ChatReply, chat_options, model_name, note_usage, reply_text
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors, one_request_each
from lightrag.llm.endings import StreamedReply
from lightrag.llm.streams import ReplyStream
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.http_json import DEFAULT_TIMEOUT, http_clients, read_json, translated_errors
from lightrag.runtime.model_errors import ProviderError, redact

if TYPE_CHECKING:
    import numpy as np


TITAN_MODEL = "amazon.titan-embed-text-v2:0"
_DEFAULT_CHAT_TIMEOUT = 600.0
# How Converse names what OpenAI's parameters say.
_INFERENCE = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxTokens", "stop": "stopSequences"}
_CUT_OFF = ("max_tokens", "model_context_window_exceeded")


async def bedrock_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a chat model.

    Args:
        model: Id of the model or inference profile, or an ARN.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        kwargs: ``api_key`` (a bearer token, else ``AWS_BEARER_TOKEN_BEDROCK``), ``region``, ``base_url``,
            ``aws_access_key_id``, ``aws_secret_access_key`` and ``aws_session_token`` say where and who; without a
            token requests are signed with the credentials that AWS tools find. ``stream``, ``timeout`` (seconds),
            ``enable_cot`` and ``token_tracker`` are understood, ``temperature``, ``top_p``, ``max_tokens`` and
            ``stop`` are sent as Converse names them, and everything else as additional fields of the model.

    Returns:
        The reply; with ``stream=True`` an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        InputError: There are no credentials.
        MissingDependencyError: Requests must be signed, and the package for that is not installed.
        TruncatedReplyError: The reply was cut off at its length limit; a stream raises it after its last piece.
        ModelReplyError: The reply is empty or malformed.
        ContextTooLongError: The request is longer than the model's context.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = chat_options(kwargs)
    place = BedrockPlace.take(options.request)
    body = _converse_body(prompt, system_prompt, history_messages, options)
    timeout = options.timeout or _DEFAULT_CHAT_TIMEOUT
    source = f"model {model!r}"
    if options.stream:
        return await _open_stream(source, place, place.url(model, "converse-stream"), body, options)
    answer = await _post(source, place, place.url(model, "converse"), body, timeout)
    usage = (answer.get("usage") or {}) if isinstance(answer, dict) else {}
    options.note_usage(usage.get("inputTokens"), usage.get("outputTokens"))
    return reply_text(source, _read_reply(source, answer), keep_reasoning=options.keep_reasoning)


async def bedrock_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`bedrock_complete_if_cache`, with the model that ``model=`` or the engine's settings name."""
    name = model_name(kwargs)
    return await bedrock_complete_if_cache(name, prompt, system_prompt, history_messages, **kwargs)


def _converse_body(
    prompt: str, system_prompt: str | None, history: Sequence[Mapping[str, Any]] | None, options: ChatOptions
) -> dict[str, Any]:
    messages = [*(history or ()), {"role": "user", "content": prompt}]
    instructions = [system_prompt] if system_prompt else []
    instructions += [str(message["content"]) for message in messages if message.get("role") == "system"]
    body: dict[str, Any] = {
        "messages": [
            {"role": message["role"], "content": [{"text": str(message["content"])}]}
            for message in messages
            if message.get("role") != "system"
        ]
    }
    if instructions:
        body["system"] = [{"text": text} for text in instructions]
    request = dict(options.request)
    inference = {there: request.pop(here) for here, there in _INFERENCE.items() if request.get(here) is not None}
    if isinstance(inference.get("stopSequences"), str):
        inference["stopSequences"] = [inference["stopSequences"]]
    if inference:
        body["inferenceConfig"] = inference
    further = {name: value for name, value in request.items() if value is not None}
    if further:
        body["additionalModelRequestFields"] = further
    return body


def _read_reply(source: str, answer: Any) -> ChatReply:
    message = ((answer.get("output") or {}).get("message") or {}) if isinstance(answer, dict) else {}
    blocks = message.get("content")
    if not isinstance(blocks, list):
        raise ModelReplyError(f"{source} sent no message: {str(answer)[:200]!r}")
    text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    thought = "".join(
        str(((block.get("reasoningContent") or {}).get("reasoningText") or {}).get("text") or "") for block in blocks
    )
    return ChatReply(text, thought, _finish_reason(answer.get("stopReason")))


def _finish_reason(reason: Any) -> str:
    return "length" if reason in _CUT_OFF else str(reason or "")


async def _post(source: str, place: BedrockPlace, url: str, body: Mapping[str, Any], seconds: float) -> Any:
    data, headers = await place.request(url, body)
    async with http_clients.lease(seconds) as client:
        with translated_errors(source, place.api_key):
            response = await client.post(url, content=data, headers=headers)
    return read_json(source, response, place.api_key)


async def _open_stream(
    source: str, place: BedrockPlace, url: str, body: Mapping[str, Any], options: ChatOptions
) -> ReplyStream:
    data, headers = await place.request(url, body)
    async with AsyncExitStack() as resources:
        client = await resources.enter_async_context(http_clients.lease(options.timeout or _DEFAULT_CHAT_TIMEOUT))
        with translated_errors(source, place.api_key):
            request = client.build_request("POST", url, content=data, headers=headers)
            response = await client.send(request, stream=True)
            resources.push_async_callback(response.aclose)
            if not response.is_success:
                await response.aread()
        if not response.is_success:
            read_json(source, response, place.api_key)
        pieces = _stream_pieces(source, place.api_key, response, options)
        return ReplyStream(pieces, resources.pop_all())


async def _stream_pieces(
    source: str, secret: str | None, response: Any, options: ChatOptions
) -> AsyncGenerator[str, None]:
    reply = StreamedReply(source, keep_reasoning=options.keep_reasoning)
    with translated_errors(source, secret):
        async for message in event_messages(source, response.aiter_bytes()):
            event = json.loads(message.payload or b"{}")
            if message.headers.get(":message-type") != "event":
                kind = message.headers.get(":exception-type") or message.headers.get(":error-code") or "an error"
                raise ProviderError(f"{source} failed: {kind}: {redact(str(event.get('message') or ''), secret)}")
            kind = message.headers.get(":event-type", "")
            if kind == "contentBlockDelta":
                delta = event.get("delta") or {}
                thought = (delta.get("reasoningContent") or {}).get("text") or ""
                shown = reply.feed(delta.get("text") or "", thought)
                if shown:
                    yield shown
            elif kind == "messageStop":
                reply.finish_reason = _finish_reason(event.get("stopReason"))
            elif kind == "metadata":
                usage = event.get("usage") or {}
                options.note_usage(usage.get("inputTokens"), usage.get("outputTokens"))
    rest = reply.finish()
    if rest:
        yield rest
    reply.check(ended=bool(reply.finish_reason))


async def _embed(
    texts: Sequence[str], model: str = TITAN_MODEL, embedding_dim: int | None = None, **kwargs: Any
) -> np.ndarray:
    """Embed texts with a model of Amazon Titan, or of Cohere on Bedrock.

    Args:
        texts: What to embed.
        model: Id of the model.
        embedding_dim: Shorten the vectors to this dimension, where the model can.
        kwargs: Where and who, as :func:`bedrock_complete_if_cache` describes; ``context``, ``query_prefix``,
            ``document_prefix``, ``timeout`` and ``token_tracker`` are understood, all else is sent.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        ModelReplyError: The answer has another number of vectors, or they cannot be read.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = EmbeddingOptions.take(kwargs)
    place = BedrockPlace.take(options.request)
    url, source = place.url(model, "invoke"), f"embedding model {model!r}"
    timeout = options.timeout or DEFAULT_TIMEOUT
    wanted = options.prefixed(texts)
    if "cohere." in model:
        purpose = "search_query" if options.context == "query" else "search_document"
        body = {"texts": wanted, "input_type": purpose, "embedding_types": ["float"], **options.request}
        if embedding_dim is not None:
            body["output_dimension"] = embedding_dim
        answer = await _post(source, place, url, body, timeout)
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        return decode_vectors(source, (rows.get("float") if isinstance(rows, dict) else rows) or [], len(texts))

    async def one(text: str) -> Any:
        body = {"inputText": text, **options.request}
        if embedding_dim is not None:
            body["dimensions"] = embedding_dim
        answer = await _post(source, place, url, body, timeout)
        if not isinstance(answer, dict):
            raise ModelReplyError(f"{source} sent no vector: {str(answer)[:200]!r}")
        note_usage(options.token_tracker, answer.get("inputTextTokenCount"), 0)
        return answer.get("embedding")

    return decode_vectors(source, await one_request_each(one, wanted), len(texts))


bedrock_embed = EmbeddingFunc(embedding_dim=1024, func=_embed, max_token_size=8192, model_name=TITAN_MODEL)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model through this binding."""
    return bound_llm(bedrock_complete_if_cache, endpoint)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model; ``attributes`` are those of :class:`EmbeddingFunc`."""
    return bound_embedding(_embed, endpoint, **attributes)
