"""Chat and embeddings of an Ollama server.

The ``ollama`` package is imported when a model is first called. It looks for an address and a key that are
not given in its own environment variables (``OLLAMA_HOST``, ``OLLAMA_API_KEY``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import ModelReplyError, ModelTimeoutError
from lightrag.llm.binding import bound_embedding, endpoint_arguments
from lightrag.llm.chat import ChatOptions, ChatReply, chat_messages, chat_options, model_name, note_usage, reply_text
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors
from lightrag.llm.endings import StreamedReply
from lightrag.llm.streams import ReplyStream, started
from lightrag.runtime.clients import ClientPool
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import (
    ProviderError,
    parse_retry_after,
    provider_error,
    redact,
    refuse_told_error,
    unreachable,
)
from lightrag.runtime.responses import RESPONSE_HOOKS

if TYPE_CHECKING:
    import numpy as np
    from ollama import AsyncClient

_DRAIN_SECONDS = 0.1


@dataclass(frozen=True)
class _Server:
    """What a client is made of."""

    host: str | None
    api_key: str | None = field(default=None, repr=False)
    timeout: float | None = None


def _build_client(server: _Server) -> AsyncClient:
    import ollama

    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else None
    hooks = {"response": [*RESPONSE_HOOKS["response"], _refuse]}
    return ollama.AsyncClient(host=server.host, timeout=server.timeout, headers=headers, event_hooks=hooks)


class _RefusedError(Exception):
    """A response that is an error, with the headers that the library's own error drops."""

    def __init__(self, response: Any) -> None:
        super().__init__(str(response.status_code))
        self.response = response


async def _refuse(response: Any) -> None:
    if response.is_error:
        await response.aread()
        raise _RefusedError(response)


async def _close_client(client: AsyncClient) -> None:
    await client.close()  # type: ignore[no-untyped-call]


_clients: ClientPool[_Server, AsyncClient] = ClientPool(_build_client, _close_client, "ollama")


def _server(kwargs: dict[str, Any], timeout: float | None) -> _Server:
    """Take from the keyword arguments what concerns the client."""
    host = kwargs.pop("host", None) or kwargs.pop("base_url", None)
    kwargs.pop("base_url", None)
    return _Server(host, kwargs.pop("api_key", None), timeout)


@contextmanager
def _translated_errors(source: str, secret: str | None) -> Iterator[None]:
    """Turn the errors of the library, and of the HTTP client under it, into ours."""
    import httpx
    import ollama
    import pydantic

    try:
        yield
    except _RefusedError as refusal:
        response = refusal.response
        # The library's error finds the message in the body.
        message = redact(str(ollama.ResponseError(response.text).error), secret)
        retry_after = parse_retry_after(response.headers)
        raise provider_error(source, response.status_code, message, retry_after=retry_after) from None
    except ollama.ResponseError as error:
        # Sent inside a stream that had begun with a success.
        raise ProviderError(f"{source} failed: {redact(str(error.error), secret)}") from None
    except httpx.TimeoutException:
        raise ModelTimeoutError(f"{source} did not answer in time") from None
    except (httpx.RequestError, ConnectionError) as error:
        raise unreachable(source, error, secret) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelReplyError(f"{source} sent something that is not JSON: {error}") from None
    except pydantic.ValidationError as error:
        fault = error.errors(include_url=False)[0]
        if isinstance(fault["input"], Mapping):
            refuse_told_error(source, fault["input"].get("error"), secret)
        place = ".".join(map(str, fault["loc"]))
        raise ModelReplyError(f"{source} sent no answer of Ollama: {place!r}: {fault['msg']}") from None
    except (TypeError, AttributeError):
        # The library takes for granted that every answer is an object.
        raise ModelReplyError(f"{source} sent no answer of Ollama: it is no JSON object") from None


async def ollama_model_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a chat model.

    Args:
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        kwargs: ``model`` (else the engine's ``llm_model_name``), ``host``, ``api_key``, ``timeout``
            (seconds), ``stream``, ``response_format`` and ``enable_cot`` (keep the reasoning) are understood;
            ``options``, ``think`` and ``keep_alive`` are sent; the engine's own are dropped.

    Returns:
        The reply; with ``stream=True`` an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        TruncatedReplyError: The reply was cut off at its length limit; a stream raises it after its last piece.
        ModelReplyError: The reply is empty or malformed.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
        InputError: No model is named.
    """
    model = model_name(kwargs)
    options = chat_options(kwargs)
    server = _server(options.request, options.timeout)
    request: dict[str, Any] = {
        "model": model,
        "messages": chat_messages(prompt, system_prompt, history_messages),
        "format": _format_of(options),
        **options.request,
    }
    if options.stream:
        return await _open_stream(server, request, options)
    source = f"model {model!r}"
    async with _clients.lease(server) as client:
        asked = client.chat(**request)
        with _translated_errors(source, server.api_key):
            answer = await asked
    options.note_usage(answer.prompt_eval_count, answer.eval_count)
    reply = ChatReply(answer.message.content or "", answer.message.thinking or "", answer.done_reason or "")
    return reply_text(source, reply, keep_reasoning=options.keep_reasoning)


def _format_of(options: ChatOptions) -> Any:
    """Return Ollama's ``format``: a JSON schema, ``"json"``, or ``None`` for text."""
    wanted = options.response_format
    if wanted is None or wanted.get("type") == "text":
        return None
    schema = wanted.get("json_schema") or {}
    return schema.get("schema") or "json"


async def _open_stream(server: _Server, request: dict[str, Any], options: ChatOptions) -> ReplyStream:
    source = f"model {request['model']!r}"
    async with AsyncExitStack() as resources:
        client = await resources.enter_async_context(_clients.lease(server))
        events: Any = await client.chat(**request, stream=True)
        resources.push_async_callback(events.aclose)
        # The library sends the request with the first event, and a refusal must be told before pieces are
        # promised.
        with _translated_errors(source, server.api_key):
            events = await started(events)
        pieces = _stream_pieces(source, server.api_key, events, options)
        return ReplyStream(pieces, resources.pop_all())


async def _stream_pieces(
    source: str, secret: str | None, events: AsyncGenerator[Any, None], options: ChatOptions
) -> AsyncGenerator[str, None]:
    reply = StreamedReply(source, keep_reasoning=options.keep_reasoning)
    done = False
    with _translated_errors(source, secret):
        async for event in events:
            reply.finish_reason = event.done_reason or reply.finish_reason
            shown = reply.feed(event.message.content or "", event.message.thinking or "")
            if shown:
                yield shown
            if event.done:
                done = True
                options.note_usage(event.prompt_eval_count, event.eval_count)
                await _drain(events)
                break
    rest = reply.finish()
    if rest:
        yield rest
    reply.check(ended=done)


async def _drain(events: AsyncGenerator[Any, None]) -> None:
    """Read the end of a body whose last line has come, so that its connection can be used again; or give that up."""
    import httpx

    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in events:
                pass


async def _embed(texts: Sequence[str], embed_model: str = "bge-m3:latest", **kwargs: Any) -> np.ndarray:
    """Embed texts.

    Args:
        texts: What to embed.
        embed_model: Name of the model.
        kwargs: ``host``, ``api_key``, ``timeout`` (seconds), ``embedding_dim``, ``context``, ``query_prefix``
            and ``document_prefix`` are understood; ``options``, ``truncate`` and ``keep_alive`` are sent.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        ModelReplyError: The answer has another number of vectors, or they cannot be read.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = EmbeddingOptions.take(kwargs)
    request = options.request
    server = _server(request, options.timeout)
    dimensions = request.pop("embedding_dim", None)
    source = f"embedding model {embed_model!r}"
    async with _clients.lease(server) as client:
        asked = client.embed(model=embed_model, input=options.prefixed(texts), dimensions=dimensions, **request)
        with _translated_errors(source, server.api_key):
            answer = await asked
    note_usage(options.token_tracker, answer.prompt_eval_count, 0)
    return decode_vectors(source, list(answer.embeddings), len(texts))


ollama_embed = EmbeddingFunc(embedding_dim=1024, func=_embed, max_token_size=8192, model_name="bge-m3:latest")


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model through this binding."""

    async def complete(
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> LLMReply:
        given = {**endpoint_arguments(endpoint), "model": endpoint.model, **kwargs}
        return await ollama_model_complete(prompt, system_prompt, history_messages, **given)

    return complete


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model; ``attributes`` are those of :class:`EmbeddingFunc`."""
    return bound_embedding(_embed, endpoint, **attributes)
