"""The protocol of OpenAI, spoken with the ``openai`` package: chat completions and embeddings.

OpenAI, Azure and every compatible server differ only in the client that is made for them. The package is imported when
a model is first called.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc, LLMFunc, LLMReply
from lightrag.exceptions import ModelError, ModelReplyError, ModelTimeoutError
from lightrag.llm.chat import (
    ChatOptions,
    ChatReply,
    Message,
    chat_messages,
    chat_options,
    note_usage,
    reply_text,
)
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors, in_order
from lightrag.llm.endings import StreamedReply
from lightrag.llm.event_watch import EventWatch
from lightrag.llm.streams import ReplyStream
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
from lightrag.settings_api import provider_settings

if TYPE_CHECKING:
    import numpy as np
    from openai import AsyncOpenAI

# Hosts that are known to understand `stream_options`; a server that does not may refuse the whole request.
_TELLING_HOSTS = (".openai.com", ".openai.azure.com")


@dataclass(frozen=True)
class AzureDeployment:
    """What Azure asks for beside an address and a key.

    Attributes:
        api_version: Version of the interface, such as ``2024-10-21``; ``None`` for ``OPENAI_API_VERSION``.
        deployment: Name of the deployment; ``None`` takes the model's name.
    """

    api_version: str | None = None
    deployment: str | None = None


@dataclass(frozen=True)
class Account:
    """What a client is made of.

    Attributes:
        base_url: Address up to and with ``/v1``, or that of an Azure resource; ``None`` for the package's own.
        api_key: Key; ``None`` for the package's own environment variable.
        timeout: Seconds that the server may take; ``None`` for the package's default.
        further: Further arguments of the client as canonical JSON, so that equal ones share a client.
        azure: Set for Azure.
    """

    base_url: str | None
    api_key: str | None = field(default=None, repr=False)
    timeout: float | None = None
    further: str = "{}"
    azure: AzureDeployment | None = None


def _build_client(account: Account) -> AsyncOpenAI:
    import openai

    options = json.loads(account.further)
    if account.timeout is not None:
        options["timeout"] = account.timeout
    # Retries belong to whoever bounds the calls; two layers of them would multiply.
    options |= {"api_key": account.api_key, "max_retries": 0}
    try:
        options["http_client"] = openai.DefaultAsyncHttpxClient(event_hooks=RESPONSE_HOOKS)
        if account.azure is None:
            return openai.AsyncOpenAI(base_url=account.base_url, **options)
        return openai.AsyncAzureOpenAI(
            azure_endpoint=account.base_url or "",
            azure_deployment=account.azure.deployment,
            api_version=account.azure.api_version,
            **options,
        )
    except (openai.OpenAIError, ValueError) as error:
        raise ModelError(f"the OpenAI client cannot be made: {redact(str(error), account.api_key)}") from None


async def _close_client(client: AsyncOpenAI) -> None:
    await client.close()


_clients: ClientPool[Account, AsyncOpenAI] = ClientPool(_build_client, _close_client, "openai")


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
        raise unreachable(source, error, secret) from None
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
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelReplyError(f"{source} sent something that is not JSON: {error}") from None


async def complete(account: Account, model: str, messages: Sequence[Message], options: ChatOptions) -> LLMReply:
    """Ask a chat model.

    Args:
        account: The server.
        model: Name of the model.
        messages: The conversation.
        options: How to ask.

    Returns:
        The reply; when streaming an iterator of its pieces, whose ``aclose()`` stops the server.

    Raises:
        TruncatedReplyError: The reply was cut off at its length limit; a stream raises it after its last piece.
        ModelReplyError: The reply is empty or malformed.
        ContextTooLongError: The request is longer than the model's context.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    request: dict[str, Any] = {"model": model, "messages": list(messages), **options.request}
    if options.response_format is not None:
        request["response_format"] = options.response_format
    if options.stream:
        return await _open_stream(account, request, options)
    source = f"model {model!r}"
    async with _clients.lease(account) as client:
        with _translated_errors(source, account.api_key):
            completion = await client.chat.completions.create(**request)
    _note(options, getattr(completion, "usage", None))
    reply = read_completion(source, completion, account.api_key)
    return reply_text(source, reply, keep_reasoning=options.keep_reasoning)


def read_completion(source: str, completion: Any, secret: str | None = None) -> ChatReply:
    """Return the reply in a completion of any server: fields that OpenAI always sends may be missing elsewhere.

    Args:
        source: Names the model in messages.
        completion: What the server sent.
        secret: Key, which some servers repeat.

    Raises:
        ModelReplyError: There is no reply in it, or the model refused.
        ProviderError: It is an error in spite of its status.
    """
    refuse_told_error(source, getattr(completion, "error", None), secret)
    choices: Any = getattr(completion, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if message is None:
        raise ModelReplyError(f"{source} sent no chat completion: {redact(str(completion), secret)[:200]!r}")
    refusal = getattr(message, "refusal", None)
    if refusal:
        raise ModelReplyError(f"{source} refused: {redact(str(refusal), secret)}")
    content = message.content if isinstance(message.content, str) else ""
    return ChatReply(content, reasoning_of(message), str(choices[0].finish_reason or ""))


def reasoning_of(message: Any) -> str:
    """Return the reasoning that came apart from the text; ``""`` for none."""
    reasoning = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    reasoning = getattr(reasoning, "content", reasoning)
    return reasoning if isinstance(reasoning, str) else ""


def _note(options: ChatOptions, usage: Any) -> None:
    if usage is not None:
        options.note_usage(
            getattr(usage, "prompt_tokens", None),
            getattr(usage, "completion_tokens", None),
            getattr(usage, "cost", None),
        )


async def _open_stream(account: Account, request: dict[str, Any], options: ChatOptions) -> ReplyStream:
    source = f"model {request['model']!r}"
    async with AsyncExitStack() as resources:
        client = await resources.enter_async_context(_clients.lease(account))
        if client.base_url.host.endswith(_TELLING_HOSTS):
            request.setdefault("stream_options", {"include_usage": True})
        with _translated_errors(source, account.api_key):
            events = await client.chat.completions.create(**request, stream=True)
        resources.push_async_callback(events.close)
        watch = EventWatch(events.response)
        with_errors = _with_errors(source, account.api_key, events, watch)
        return ReplyStream(stream_pieces(source, with_errors, options, watch.done), resources.pop_all())


async def _with_errors(source: str, secret: str | None, events: Any, watch: EventWatch) -> AsyncGenerator[Any, None]:
    began = False
    with _translated_errors(source, secret):
        async for event in events:
            began = True
            yield event
    if not began:
        watch.refuse_no_events(source, secret)


async def stream_pieces(
    source: str, events: AsyncGenerator[Any, None], options: ChatOptions, said_done: Callable[[], bool] = bool
) -> AsyncGenerator[str, None]:
    """Return the texts in the events of a streamed completion.

    Args:
        source: Names the model in messages.
        events: Chunks as OpenAI defines them.
        options: How the model was asked.
        said_done: Tells, when there are no more events, whether the server marked their end in another way than by a
            finish reason.

    Raises:
        TruncatedReplyError: After the last text: the reply was cut off at its length limit.
        ModelReplyError: After the last text: the provider ended it early, or it is empty.
        ProviderError: The stream broke off.
    """
    reply = StreamedReply(source, keep_reasoning=options.keep_reasoning)
    usage: Any = None
    async for event in events:
        # Some servers add the tokens up in every event, others send them in a last one without choices.
        usage = getattr(event, "usage", None) or usage
        choices = getattr(event, "choices", None)
        for choice in choices[:1] if isinstance(choices, list) else ():
            delta = choice.delta
            content = getattr(delta, "content", None)
            shown = reply.feed(content if isinstance(content, str) else "", reasoning_of(delta)) if delta else ""
            reply.finish_reason = str(choice.finish_reason or reply.finish_reason)
            if shown:
                yield shown
    _note(options, usage)
    rest = reply.finish()
    if rest:
        yield rest
    reply.check(ended=bool(reply.finish_reason) or said_done())


async def embed(
    account: Account, model: str, texts: Sequence[str], options: EmbeddingOptions, dimension: int | None = None
) -> np.ndarray:
    """Embed texts.

    Args:
        account: The server.
        model: Name of the model.
        texts: What to embed.
        options: How to ask.
        dimension: Shorten the vectors to this dimension, where the model can.

    Returns:
        ``float32`` array of shape ``(len(texts), dimension)``.

    Raises:
        ModelReplyError: The answer has another number of vectors, or they cannot be read.
        ContextTooLongError: A text is too long for the model.
        ModelTimeoutError: The server was too slow.
        ProviderError: The server could not be reached, or refused.
    """
    request: dict[str, Any] = {
        "model": model,
        "input": options.prefixed(texts),
        "encoding_format": "base64" if options.use_base64 else "float",
        **options.request,
    }
    if dimension is not None:
        request["dimensions"] = dimension
    source = f"embedding model {model!r}"
    async with _clients.lease(account) as client:
        with _translated_errors(source, account.api_key):
            answer = await client.embeddings.create(**request)
    note_usage(options.token_tracker, getattr(getattr(answer, "usage", None), "prompt_tokens", None), 0)
    refuse_told_error(source, getattr(answer, "error", None), account.api_key)
    rows = getattr(answer, "data", None)
    if rows is None:
        raise ModelReplyError(f"{source} sent no list of vectors: {redact(str(answer), account.api_key)[:200]!r}")
    return decode_vectors(source, in_order(source, rows), len(texts))


def client_arguments(request: dict[str, Any]) -> str:
    """Take what concerns the client out of a request, as canonical JSON."""
    return json.dumps(request.pop("openai_client_configs", None) or {}, sort_keys=True)


def _account(endpoint: ModelEndpoint, timeout: float | None, request: dict[str, Any]) -> Account:
    """Return the account that an endpoint means, with key and address of the settings where it has none."""
    own = provider_settings()
    address = endpoint.base_url or own.openai_api_base or None
    return Account(address, endpoint.api_key or own.openai_api_key or None, timeout, client_arguments(request))


async def complete_at(
    endpoint: ModelEndpoint,
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> LLMReply:
    """As :func:`complete`, with what model functions are given.

    Args:
        endpoint: The model.
        prompt: What to ask.
        system_prompt: Put before everything.
        history_messages: Messages in between.
        kwargs: As :func:`lightrag.llm.openai.openai_complete_if_cache` describes them; they win over the options of
            the endpoint.
    """
    options = chat_options({"timeout": endpoint.timeout, **endpoint.options, **kwargs})
    account = _account(endpoint, options.timeout, options.request)
    return await complete(account, endpoint.model, chat_messages(prompt, system_prompt, history_messages), options)


async def embed_at(
    endpoint: ModelEndpoint, texts: Sequence[str], embedding_dim: int | None = None, **kwargs: Any
) -> np.ndarray:
    """As :func:`embed`, with what embedding functions are given.

    Args:
        endpoint: The model.
        texts: What to embed.
        embedding_dim: Shorten the vectors to this dimension.
        kwargs: As :func:`lightrag.llm.openai.openai_embed` takes them; they win over the options of the endpoint.
    """
    options = EmbeddingOptions.take({"timeout": endpoint.timeout, **endpoint.options, **kwargs})
    account = _account(endpoint, options.timeout, options.request)
    return await embed(account, endpoint.model, texts, options, embedding_dim)


def create_llm(endpoint: ModelEndpoint) -> LLMFunc:
    """Return the function that calls a model through this binding."""
    return partial(complete_at, endpoint)


def create_embedding(endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
    """Return the embedding function for a model; ``attributes`` are those of :class:`EmbeddingFunc`."""
    return EmbeddingFunc(func=partial(embed_at, endpoint), model_name=endpoint.model, **attributes)
