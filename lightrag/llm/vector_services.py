"""Embedding services whose request is that of OpenAI but for a few names: Jina, Voyage AI and their like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc
from lightrag.exceptions import InputError, ModelReplyError
from lightrag.llm.binding import bound_embedding
from lightrag.llm.chat import note_usage
from lightrag.llm.embeddings import EmbeddingOptions, decode_vectors, in_order
from lightrag.runtime.endpoints import ModelEndpoint
from lightrag.runtime.http_json import DEFAULT_TIMEOUT, Service, post_json
from lightrag.runtime.model_errors import redact, refuse_told_error
from lightrag.settings_api import provider_settings

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class VectorService:
    """How a service names things.

    Attributes:
        name: In messages.
        url: Its route for embeddings.
        model: Model that is asked when none is named.
        key_setting: Setting that holds the key, by its field name; used for ``url`` only.
        dimension_field: Field that asks for a dimension.
        purpose_field: Field that tells questions from documents.
        purposes: Values of that field by ``query`` and ``document``.
        base64_field: Field and value that ask for vectors as base64.
    """

    name: str
    url: str
    model: str
    key_setting: str
    dimension_field: str
    purpose_field: str
    purposes: Mapping[str, str]
    base64_field: Mapping[str, str] = field(default_factory=dict)

    async def embed(
        self,
        texts: Sequence[str],
        model: str = "",
        embedding_dim: int | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        **kwargs: Any,
    ) -> np.ndarray:
        """Embed texts.

        Args:
            texts: What to embed.
            model: Name of the model; ``""`` for the service's own choice.
            embedding_dim: Shorten the vectors to this dimension, where the model can.
            base_url: Address of the route, if it is not the service's own.
            api_key: Key; ``None`` for that of the settings.
            kwargs: ``context``, ``query_prefix``, ``document_prefix``, ``use_base64``, ``timeout`` and
                ``token_tracker`` are understood, all else is sent.

        Returns:
            ``float32`` array of shape ``(len(texts), dimension)``.

        Raises:
            InputError: There is no key.
            ModelReplyError: The answer has another number of vectors, or they cannot be read.
            ContextTooLongError: A text is too long for the model.
            ModelTimeoutError: The server was too slow.
            ProviderError: The server could not be reached, or refused.
        """
        options = EmbeddingOptions.take(kwargs)
        key = service_key(api_key, base_url, self.key_setting, self.name)
        model = model or self.model
        body: dict[str, Any] = {"model": model, "input": options.prefixed(texts), **options.request}
        if options.use_base64:
            body |= self.base64_field
        purpose = self.purposes.get(options.context)
        if purpose:
            body.setdefault(self.purpose_field, purpose)
        if embedding_dim is not None:
            body[self.dimension_field] = embedding_dim
        source = f"embedding model {model!r}"
        answer = await post_json(source, Service(base_url or self.url, key, options.timeout or DEFAULT_TIMEOUT), body)
        if not isinstance(answer, dict):
            raise ModelReplyError(f"{source} sent no list of vectors: {redact(str(answer), key)[:200]!r}")
        refuse_told_error(source, answer.get("error"), key)
        vectors = in_order(source, answer.get("data"))
        used = answer.get("usage") or {}
        note_usage(options.token_tracker, used.get("prompt_tokens") or used.get("total_tokens"), 0)
        return decode_vectors(source, vectors, len(texts))

    def embedding(self, endpoint: ModelEndpoint, **attributes: Any) -> EmbeddingFunc:
        """Return the embedding function for a model; ``attributes`` are those of :class:`EmbeddingFunc`."""
        return bound_embedding(self.embed, replace(endpoint, model=endpoint.model or self.model), **attributes)


def service_key(given: str | None, address: str | None, setting: str, name: str) -> str:
    """Return the key for a service.

    The one in the settings goes to the service's own address only: another server must not learn it.

    Args:
        given: Key that the caller gave.
        address: Address that the caller gave; ``None`` for the service's own.
        setting: Field of :class:`~lightrag.settings_api.ProviderSettings`.
        name: Names the service in messages.

    Raises:
        InputError: There is none for the service itself; a server of one's own may need none.
    """
    if given or address:
        return given or ""
    key = str(getattr(provider_settings(), setting))
    if not key:
        raise InputError(f"no key for {name} is given: set api_key, or {setting.upper()}")
    return key
