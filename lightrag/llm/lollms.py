"""Models of a LoLLMS server, by routes of its own: one prompt in, one text out; one text in, one vector out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import ModelReplyError
from lightrag.llm.binding import bound_embedding, bound_llm
from lightrag.llm.chat import ChatOptions, ChatReply, chat_options, model_name, reply_text
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors, one_request_each
from lightrag.llm.endings import StreamedReply
from lightrag.llm.streams import ReplyStream
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.http_json import (
    DEFAULT_TIMEOUT,
    Service,
    http_clients,
    post_json,
    refuse_errors,
    translated_errors,
)

if TYPE_CHECKING:
    import numpy as np

URL = "http://localhost:9600"
EMBEDDING_MODEL = "lollms_embedding_model"
_CHAT_TIMEOUT = 600.0


async def lollms_model_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a model.

    Args:
        model: Its name.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        kwargs: ``base_url``, ``api_key``, ``timeout`` (seconds), ``stream`` and ``enable_cot`` are understood; the
            server has no JSON mode, so ``response_format`` is left to the prompt. Everything else is sent, such as
            ``temperature``, ``top_k``, ``n_predict`` and ``seed``.

    Returns:
        The reply; with ``stream=True`` an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        ModelReplyError: The reply is empty.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = chat_options(kwargs)
    request = dict(options.request)
    service = _service(request, "lollms_generate", options.timeout or _CHAT_TIMEOUT)
    said = [f"{message['role']}: {message['content']}" for message in history_messages or ()]
    body = {
        "prompt": "\n".join([*([system_prompt] if system_prompt else []), *said, prompt]),
        "model_name": model,
        "personality": -1,
        "stream": options.stream,
        **{name: value for name, value in request.items() if value is not None},
    }
    source = f"model {model!r}"
    if options.stream:
        return await _open_stream(source, service, body, options)
    async with http_clients.lease(service.timeout) as client:
        with translated_errors(source, service.api_key):
            response = await client.post(service.url, json=body, headers=service.headers())
    refuse_errors(source, response, service.api_key)
    return reply_text(source, ChatReply(response.text, "", ""), keep_reasoning=options.keep_reasoning)


async def lollms_model_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`lollms_model_if_cache`, with the model that ``model=`` or the engine's settings name."""
    return await lollms_model_if_cache(model_name(kwargs), prompt, system_prompt, history_messages, **kwargs)


def _service(request: dict[str, Any], route: str, timeout: float) -> Service:
    base = request.pop("base_url", None) or URL
    return Service(f"{base.rstrip('/')}/{route}", request.pop("api_key", None), timeout)


async def _open_stream(source: str, service: Service, body: Mapping[str, Any], options: ChatOptions) -> ReplyStream:
    async with AsyncExitStack() as resources:
        client = await resources.enter_async_context(http_clients.lease(service.timeout))
        with translated_errors(source, service.api_key):
            request = client.build_request("POST", service.url, json=body, headers=service.headers())
            response = await client.send(request, stream=True)
            resources.push_async_callback(response.aclose)
            if not response.is_success:
                await response.aread()
        refuse_errors(source, response, service.api_key)
        return ReplyStream(_pieces(source, service, response, options), resources.pop_all())


async def _pieces(source: str, service: Service, response: Any, options: ChatOptions) -> AsyncGenerator[str, None]:
    reply = StreamedReply(source, keep_reasoning=options.keep_reasoning)
    with translated_errors(source, service.api_key):
        async for text in response.aiter_text():
            shown = reply.feed(text)
            if shown:
                yield shown
    rest = reply.finish()
    if rest:
        yield rest
    # The protocol has no word for the end: what closes orderly has ended.
    reply.check(ended=True)


async def _embed(texts: Sequence[str], embed_model: str | None = None, **kwargs: Any) -> np.ndarray:
    """Embed texts with the model that the server has chosen.

    Args:
        texts: What to embed.
        embed_model: Accepted; the route knows no model.
        kwargs: ``base_url``, ``api_key``, ``timeout``, ``context``, ``query_prefix`` and ``document_prefix``.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        ModelReplyError: An answer holds no vector, or the vectors cannot be read.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = EmbeddingOptions.take(kwargs)
    service = _service(dict(options.request), "lollms_embed", options.timeout or DEFAULT_TIMEOUT)
    source = f"embedding model at {service.url!r}"

    async def one(text: str) -> Any:
        answer = await post_json(source, service, {"text": text})
        if not isinstance(answer, dict) or "vector" not in answer:
            raise ModelReplyError(f"{source} sent no vector: {str(answer)[:200]!r}")
        return answer["vector"]

    return decode_vectors(source, await one_request_each(one, options.prefixed(texts)), len(texts))


lollms_embed = EmbeddingFunc(embedding_dim=1024, func=_embed, max_token_size=8192, model_name=EMBEDDING_MODEL)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model through this binding."""
    return bound_llm(lollms_model_if_cache, endpoint)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a server; ``attributes`` are those of :class:`EmbeddingFunc`."""
    return bound_embedding(_embed, endpoint, **attributes)
