"""Chat completions and embeddings of OpenAI and of every server that speaks its protocol.

The ``openai`` package is imported when a model is first called. It looks for a key and an address that are
not given in its own environment variables (``OPENAI_API_KEY``, ``OPENAI_BASE_URL``).
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import ModelError, ModelReplyError, ModelTimeoutError
from lightrag.llm.chat import ChatReply, chat_messages, chat_options, model_name, reply_text
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors
from lightrag.llm.streams import ReplyStream
from lightrag.runtime.clients import ClientPool
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError, parse_retry_after, provider_error, redact
from lightrag.runtime.reasoning import ReasoningFilter

if TYPE_CHECKING:
    import numpy as np
    from openai import AsyncOpenAI

logger = logging.getLogger("lightrag.models")


@dataclass(frozen=True)
class _Account:
    """What a client is made of."""

    base_url: str | None
    api_key: str | None = field(default=None, repr=False)
    timeout: float | None = None
    # Further arguments of the client as canonical JSON, so that equal ones share a client.
    further: str = "{}"


def _build_client(account: _Account) -> AsyncOpenAI:
    import openai

    options = json.loads(account.further)
    if account.timeout is not None:
        options["timeout"] = account.timeout
    try:
        # Retries belong to whoever bounds the calls; two layers of them would multiply.
        return openai.AsyncOpenAI(api_key=account.api_key, base_url=account.base_url, max_retries=0, **options)
    except openai.OpenAIError as error:
        raise ModelError(f"the OpenAI client cannot be made: {redact(str(error), account.api_key)}") from None


async def _close_client(client: AsyncOpenAI) -> None:
    await client.close()


_clients: ClientPool[_Account, AsyncOpenAI] = ClientPool(_build_client, _close_client)


def _account(base_url: str | None, api_key: str | None, timeout: float | None, request: dict[str, Any]) -> _Account:
    """Take from the request what concerns the client."""
    further = json.dumps(request.pop("openai_client_configs", None) or {}, sort_keys=True)
    return _Account(base_url, api_key, timeout, further)


@contextmanager
def _translated_errors(source: str, secret: str | None) -> Iterator[None]:
    """Turn the SDK's errors into ours. The chain is cut, since the originals hold the request with its key."""
    import openai
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

    try:
        yield
    except APITimeoutError:
        raise ModelTimeoutError(f"{source} did not answer in time") from None
    except APIConnectionError as error:
        cause = error.__cause__ or error
        raise ProviderError(f"{source} cannot be reached: {redact(str(cause), secret)}") from None
    except APIStatusError as error:
        raise provider_error(
            source,
            error.status_code,
            redact(error.message, secret),
            code=error.code or "",
            retry_after=parse_retry_after(error.response.headers),
        ) from None
    except APIError as error:
        # Sent inside a stream that had begun with a success.
        raise ProviderError(f"{source} failed: {redact(error.message, secret)}", code=error.code or "") from None
    except openai.OpenAIError as error:
        raise ModelError(f"{source} failed: {redact(str(error), secret)}") from None
    except json.JSONDecodeError as error:
        raise ModelReplyError(f"{source} sent something that is not JSON: {error}") from None


async def openai_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a chat model.

    Args:
        model: Name of the model.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        base_url: Address of the server, up to and with ``/v1``.
        api_key: Key; servers without keys take any text.
        kwargs: ``stream``, ``response_format``, ``timeout`` (seconds) and ``enable_cot`` (keep the reasoning)
            are understood, ``openai_client_configs`` goes to the client, the engine's own are dropped, and
            everything else (``temperature``, ``max_tokens``, ``extra_body``, ...) is sent.

    Returns:
        The reply; with ``stream=True`` an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        TruncatedReplyError: The reply was cut off at its length limit. A stream ends there with a warning
            instead.
        ModelReplyError: The reply is empty or malformed.
        ContextTooLongError: The request is longer than the model's context.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = chat_options(kwargs)
    account = _account(base_url, api_key, options.timeout, options.request)
    request: dict[str, Any] = {
        "model": model,
        "messages": chat_messages(prompt, system_prompt, history_messages),
        **options.request,
    }
    if options.response_format is not None:
        request["response_format"] = options.response_format
    if options.stream:
        return await _open_stream(account, request, keep_reasoning=options.keep_reasoning)
    source = f"model {model!r}"
    async with _clients.lease(account) as client:
        with _translated_errors(source, api_key):
            completion = await client.chat.completions.create(**request)
    return reply_text(source, _read_completion(source, completion), keep_reasoning=options.keep_reasoning)


def _read_completion(source: str, completion: Any) -> ChatReply:
    """Read a completion of any server: fields that OpenAI always sends may be missing elsewhere."""
    choices: Any = getattr(completion, "choices", None)
    message = getattr(choices[0], "message", None) if choices else None
    if message is None:
        raise ModelReplyError(f"{source} sent no chat completion: {str(completion)[:200]!r}")
    refusal = getattr(message, "refusal", None)
    if refusal:
        raise ModelReplyError(f"{source} refused: {refusal}")
    return ChatReply(message.content or "", _reasoning_of(message), choices[0].finish_reason or "")


def _reasoning_of(message: Any) -> str:
    reasoning = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    return reasoning if isinstance(reasoning, str) else ""


async def _open_stream(account: _Account, request: dict[str, Any], *, keep_reasoning: bool) -> ReplyStream:
    source = f"model {request['model']!r}"
    async with AsyncExitStack() as resources:
        client = await resources.enter_async_context(_clients.lease(account))
        with _translated_errors(source, account.api_key):
            events = await client.chat.completions.create(**request, stream=True)
        resources.push_async_callback(events.close)
        pieces = _stream_pieces(source, account.api_key, events, keep_reasoning=keep_reasoning)
        return ReplyStream(pieces, resources.pop_all())


async def _stream_pieces(
    source: str, secret: str | None, events: Any, *, keep_reasoning: bool
) -> AsyncGenerator[str, None]:
    reader = ReasoningFilter(keep=keep_reasoning)
    finish_reason = ""
    with _translated_errors(source, secret):
        async for event in events:
            # The last event of some servers carries only the token counts.
            for choice in event.choices[:1] if event.choices else ():
                delta = choice.delta
                shown = reader.feed(delta.content or "", _reasoning_of(delta)) if delta else ""
                finish_reason = choice.finish_reason or finish_reason
                if shown:
                    yield shown
    rest = reader.finish()
    if rest:
        yield rest
    if finish_reason == "length":
        logger.warning("the streamed reply of %s was cut off at its length limit", source)


async def openai_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`openai_complete_if_cache`, with the model that ``model=`` or the engine's settings name."""
    name = model_name(kwargs)
    return await openai_complete_if_cache(name, prompt, system_prompt, history_messages, **kwargs)


async def gpt_4o_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`openai_complete_if_cache`, with ``gpt-4o``."""
    return await openai_complete_if_cache("gpt-4o", prompt, system_prompt, history_messages, **kwargs)


async def gpt_4o_mini_complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`openai_complete_if_cache`, with ``gpt-4o-mini``."""
    return await openai_complete_if_cache("gpt-4o-mini", prompt, system_prompt, history_messages, **kwargs)


async def _embed(
    texts: Sequence[str],
    model: str = "text-embedding-3-small",
    base_url: str | None = None,
    api_key: str | None = None,
    embedding_dim: int | None = None,
    **kwargs: Any,
) -> np.ndarray:
    """Embed texts.

    Args:
        texts: What to embed.
        model: Name of the model.
        base_url: Address of the server, up to and with ``/v1``.
        api_key: Key.
        embedding_dim: Shorten the vectors to this dimension, where the model can.
        kwargs: ``use_base64`` (default true: a third of the traffic), ``timeout``, ``context``,
            ``query_prefix`` and ``document_prefix`` are understood, everything else is sent.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        ModelReplyError: The answer has another number of vectors, or they cannot be read.
        ContextTooLongError: A text is too long for the model.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    options = EmbeddingOptions.take(kwargs)
    account = _account(base_url, api_key, options.timeout, options.request)
    request: dict[str, Any] = {
        "model": model,
        "input": options.prefixed(texts),
        "encoding_format": "base64" if options.use_base64 else "float",
        **options.request,
    }
    if embedding_dim is not None:
        request["dimensions"] = embedding_dim
    source = f"embedding model {model!r}"
    async with _clients.lease(account) as client:
        with _translated_errors(source, api_key):
            answer = await client.embeddings.create(**request)
    rows = sorted(getattr(answer, "data", None) or (), key=lambda row: row.index or 0)
    return decode_vectors(source, [row.embedding for row in rows], len(texts))


openai_embed = EmbeddingFunc(embedding_dim=1536, func=_embed, max_token_size=8192, model_name="text-embedding-3-small")


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model through this binding."""

    async def complete(
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> LLMReply:
        defaults = {"timeout": endpoint.timeout, **endpoint.options}
        return await openai_complete_if_cache(
            endpoint.model,
            prompt,
            system_prompt,
            history_messages,
            endpoint.base_url,
            endpoint.api_key,
            **{**defaults, **kwargs},
        )

    return complete


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model; ``attributes`` are those of :class:`EmbeddingFunc`."""

    async def embed(texts: Sequence[str], **kwargs: Any) -> np.ndarray:
        defaults = {"timeout": endpoint.timeout, **endpoint.options}
        return await _embed(texts, endpoint.model, endpoint.base_url, endpoint.api_key, **{**defaults, **kwargs})

    return EmbeddingFunc(func=embed, model_name=endpoint.model, **attributes)
