"""Every provider that the package ``any-llm-sdk`` knows, among them Anthropic.

The package is imported when a model is first called, in a thread, because that takes seconds. It looks for keys that
are not given in the environment variables that each provider documents.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import ContextTooLongError, InputError, ModelError, ModelTimeoutError
from lightrag.llm.binding import bound_embedding, bound_llm
from lightrag.llm.chat import ChatOptions, chat_messages, chat_options, note_usage, reply_text
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors, in_order
from lightrag.llm.openai_protocol import read_completion, stream_pieces
from lightrag.llm.streams import ReplyStream, started
from lightrag.runtime.clients import ClientPool
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.model_errors import ProviderError, provider_error, redact, retry_after_of, status_code_of
from lightrag.runtime.responses import RESPONSE_HOOKS

if TYPE_CHECKING:
    import numpy as np

logger = logging.getLogger("lightrag.models")

# Some SDKs refuse a long reply without a time limit; whoever bounds the calls sets a tighter one.
_LONGEST_CALL = 600.0


@dataclass(frozen=True)
class Account:
    """What a client is made of.

    Attributes:
        provider: Name that the package gives the provider.
        base_url: Address of the server; ``None`` for the provider's own.
        api_key: Key; ``None`` for the package's environment variable.
        further: Further arguments of the client as canonical JSON, so that equal ones share a client.
    """

    provider: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    further: str = "{}"


def _build_client(account: Account) -> Any:
    from any_llm import AnyLLM
    from any_llm.exceptions import AnyLLMError

    options = json.loads(account.further)
    try:
        if getattr(AnyLLM.get_provider_class(account.provider), "MAX_RETRIES_SUPPORT", "") != "unsupported":
            # Retries belong to whoever bounds the calls; two layers of them would multiply.
            options["max_retries"] = 0
        if account.provider == "anthropic":
            from anthropic import DefaultAsyncHttpxClient

            # Its key goes in a header that HTTP clients carry along to other hosts.
            options["http_client"] = DefaultAsyncHttpxClient(event_hooks=RESPONSE_HOOKS)
        return AnyLLM.create(account.provider, account.api_key, account.base_url, unified_exceptions=True, **options)
    except (AnyLLMError, ImportError) as error:
        raise InputError(f"provider {account.provider!r}: {redact(str(error), account.api_key)}") from None


async def _close_client(client: Any) -> None:
    inner = getattr(client, "client", None)
    close = getattr(inner, "close", None) or getattr(inner, "aclose", None)
    if asyncio.iscoroutinefunction(close):
        await close()


_clients: ClientPool[Account, Any] = ClientPool(_build_client, _close_client)


async def _load(provider: str) -> None:
    """Import the package and the provider's SDK without blocking the event loop."""

    def load() -> None:
        from any_llm import AnyLLM
        from any_llm.exceptions import AnyLLMError

        # What is wrong with a provider is told when its client is made.
        with suppress(AnyLLMError, ImportError):
            AnyLLM.get_provider_class(provider)

    await asyncio.to_thread(load)


@contextmanager
def _translated_errors(source: str, secret: str | None) -> Iterator[None]:
    """Turn the package's errors, and those of HTTP clients that it lets through, into ours."""
    import httpx
    from any_llm import exceptions

    try:
        yield
    except exceptions.ContextLengthExceededError as error:
        raise ContextTooLongError(f"{source} answered: {redact(str(error), secret)}") from None
    except (exceptions.MissingApiKeyError, exceptions.UnsupportedParameterError) as error:
        raise InputError(f"{source}: {redact(str(error), secret)}") from None
    except exceptions.AnyLLMError as error:
        raise _translated(source, error, secret) from None
    except httpx.TimeoutException:
        raise ModelTimeoutError(f"{source} did not answer in time") from None
    except httpx.TransportError as error:
        raise ProviderError(f"{source} cannot be reached: {redact(str(error), secret)}") from None


def _translated(source: str, error: Any, secret: str | None) -> ModelError:
    original = getattr(error, "original_exception", None) or error
    for cause in (original, original.__cause__):
        if isinstance(cause, ModelError):
            # Raised by our own hooks in the HTTP client under the SDK.
            return cause
    names = {kind.__name__ for kind in type(original).__mro__}
    message = redact(str(getattr(error, "message", "") or error), secret)
    status = status_code_of(error) or status_code_of(original)
    if status is not None:
        return provider_error(source, status, message, retry_after=retry_after_of(original))
    if any("Timeout" in name for name in names):
        return ModelTimeoutError(f"{source} did not answer in time")
    if any("Connect" in name for name in names):
        return ProviderError(f"{source} cannot be reached: {message}")
    return ProviderError(f"{source} failed: {message}")


async def any_llm_complete_if_cache(
    model: str,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    **kwargs: Any,
) -> LLMReply:
    """Ask a chat model of any provider.

    Args:
        model: ``provider:model`` as the package names them, such as ``cohere:command-a-03-2025``.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages ``{"role", "content"}`` in between.
        base_url: Address of the server; ``None`` for the provider's own.
        api_key: Key; ``None`` for the provider's environment variable.
        kwargs: ``stream``, ``response_format``, ``timeout`` (seconds), ``enable_cot`` (keep the reasoning) and
            ``token_tracker`` are understood, ``client_args`` goes to the client, the engine's own are dropped, and
            everything else (``temperature``, ``max_tokens``, ...) is sent.

    Returns:
        The reply; with ``stream=True`` an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        InputError: The provider is unknown, its SDK is not installed, or it has no such parameter.
        TruncatedReplyError: The reply was cut off at its length limit; a stream raises it after its last piece.
        ModelReplyError: The reply is empty or malformed.
        ContextTooLongError: The request is longer than the model's context.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    provider, name = _split(model)
    options = chat_options(kwargs)
    further = json.dumps(options.request.pop("client_args", None) or {}, sort_keys=True)
    account = Account(provider, base_url, api_key, further)
    messages = chat_messages(prompt, system_prompt, history_messages)
    request: dict[str, Any] = {"model": name, "messages": messages, **options.request}
    request["timeout"] = options.timeout or _LONGEST_CALL
    if options.response_format is not None:
        request["response_format"] = options.response_format
    await _load(provider)
    if options.stream:
        return await _open_stream(account, request, options)
    source = f"model {name!r}"
    async with _clients.lease(account) as client:
        with _translated_errors(source, api_key):
            completion = await _ask(client, request)
    usage = getattr(completion, "usage", None)
    options.note_usage(getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    return reply_text(source, read_completion(source, completion, api_key), keep_reasoning=options.keep_reasoning)


def _split(model: str) -> tuple[str, str]:
    provider, colon, name = model.partition(":")
    if not colon or not provider or not name:
        raise InputError(f"{model!r} names no provider; write provider:model, such as anthropic:claude-sonnet-4-5")
    return provider, name


async def _ask(client: Any, request: dict[str, Any]) -> Any:
    """Send a request; a provider that has no JSON mode is asked without one, since the prompt says the same."""
    from any_llm.exceptions import UnsupportedParameterError

    try:
        return await client.acompletion(**request)
    except UnsupportedParameterError:
        if (request.get("response_format") or {}).get("type") != "json_object":
            raise
    return await client.acompletion(**{name: value for name, value in request.items() if name != "response_format"})


async def _open_stream(account: Account, request: dict[str, Any], options: ChatOptions) -> ReplyStream:
    source = f"model {request['model']!r}"
    async with AsyncExitStack() as resources:
        client = await resources.enter_async_context(_clients.lease(account))
        with _translated_errors(source, account.api_key):
            events = await _ask(client, {**request, "stream": True})
        if hasattr(events, "aclose"):
            resources.push_async_callback(events.aclose)
        # Some SDKs send the request with the first event, and a refusal must be told before pieces are promised.
        with _translated_errors(source, account.api_key):
            events = await started(events)
        pieces = stream_pieces(source, _with_errors(source, account.api_key, events), options)
        return ReplyStream(pieces, resources.pop_all())


async def _with_errors(source: str, secret: str | None, events: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    with _translated_errors(source, secret):
        async for event in events:
            yield event


async def _embed(
    texts: Sequence[str],
    model: str,
    base_url: str | None = None,
    api_key: str | None = None,
    embedding_dim: int | None = None,
    **kwargs: Any,
) -> np.ndarray:
    """Embed texts with a model of any provider; see :func:`any_llm_complete_if_cache` for the arguments."""
    provider, name = _split(model)
    options = EmbeddingOptions.take(kwargs)
    further = json.dumps(options.request.pop("client_args", None) or {}, sort_keys=True)
    request = dict(options.request)
    if embedding_dim is not None:
        request["dimensions"] = embedding_dim
    source = f"embedding model {name!r}"
    await _load(provider)
    async with _clients.lease(Account(provider, base_url, api_key, further)) as client:
        with _translated_errors(source, api_key):
            answer = await client.aembedding(name, options.prefixed(texts), **request)
    note_usage(options.token_tracker, getattr(getattr(answer, "usage", None), "prompt_tokens", None), 0)
    return decode_vectors(source, in_order(source, getattr(answer, "data", None)), len(texts))


def create_llm(endpoint: ModelEndpoint, provider: str = "") -> LLMFunc:
    """Return the function that calls a model.

    Args:
        endpoint: The model; its name includes the provider unless that is given.
        provider: Name of the provider.
    """
    named = replace(endpoint, model=f"{provider}:{endpoint.model}") if provider else endpoint
    return bound_llm(any_llm_complete_if_cache, named)


create_anthropic = partial(create_llm, provider="anthropic")


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model; ``attributes`` are those of :class:`EmbeddingFunc`."""
    return bound_embedding(_embed, endpoint, **attributes)
