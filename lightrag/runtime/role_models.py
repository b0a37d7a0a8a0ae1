"""Turn what an engine has for all roles, and what a role has of its own, into the model that plays the role."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lightrag.contracts.models import LLMFunc, Tokenizer
from lightrag.contracts.roles import RoleLLMConfig, RoleSpec
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.hashing import compute_args_hash
from lightrag.runtime.model_set import ModelSet, TextModel
from lightrag.runtime.observation import CallObserver, Observation
from lightrag.runtime.usage import Prices

# What a caller may pass to every model function and what does not change a reply.
_SILENT_KWARGS = frozenset(
    {
        "api_key",
        "base_url",
        "host",
        "model",
        "timeout",
        "keep_alive",
        "stream",
        "hashing_kv",
        "token_tracker",
        "openai_client_configs",
        "client_args",
    }
)


@dataclass(frozen=True)
class ModelDefaults:
    """What the engine has for all roles.

    Attributes:
        func: Model function.
        name: Name of the model.
        kwargs: Sent with every call.
        max_async: Calls that may run at a time.
        timeout: Seconds per attempt.
        hashing_kv: Sent as ``hashing_kv=``, as model functions of users expect: its ``global_config`` holds
            ``llm_model_name`` and the other settings.
        prices: Of tokens.
    """

    func: LLMFunc
    name: str
    kwargs: Mapping[str, Any]
    max_async: int
    timeout: float
    hashing_kv: Any = None
    prices: Prices = field(default_factory=Prices)


class RoleModels:
    """Makes the models of the roles of one opened workspace, and replaces them while it is used."""

    def __init__(self, defaults: ModelDefaults, observation: Observation, tokenizer: Tokenizer) -> None:
        """Prepare.

        Args:
            defaults: What the engine has for all roles.
            observation: Notes what calls cost.
            tokenizer: Counts the tokens that providers do not tell.
        """
        self._defaults = defaults
        self._observation = observation
        self._tokenizer = tokenizer
        # Roles without anything of their own share the slots of one function.
        self._shared = BoundedCalls(defaults.func, defaults.max_async, defaults.timeout, name="llm")

    def make(self, role: RoleSpec, config: RoleLLMConfig) -> TextModel:
        """Return the model that plays a role.

        Args:
            role: The role.
            config: What the role has of its own.

        Raises:
            InputError: A limit is not positive.
        """
        defaults = self._defaults
        own = config.func is not None
        func = config.func or defaults.func
        calls = self._shared
        if own or config.max_async is not None or config.timeout is not None:
            timeout = defaults.timeout if config.timeout is None else float(config.timeout)
            max_async = defaults.max_async if config.max_async is None else config.max_async
            calls = BoundedCalls(func, max_async, timeout, name=role.queue_name)
        kwargs = dict(config.kwargs or {}) if own else {**defaults.kwargs, **(config.kwargs or {})}
        metadata = config.metadata or {}
        observer = CallObserver(role.name, self._observation, self._tokenizer)
        observer.meter.prices = Prices.of(metadata, Prices() if own else defaults.prices)
        identity = model_identity(func, kwargs, metadata, defaults.name)
        if defaults.hashing_kv is not None:
            kwargs.setdefault("hashing_kv", defaults.hashing_kv)
        return TextModel(role.name, f"{role.name}|{identity}", calls, kwargs, observer)

    def replace(self, models: ModelSet, role: RoleSpec, config: RoleLLMConfig) -> None:
        """Let another model play a role from now on; calls that run or wait end with the old one.

        Raises:
            InputError: A limit is not positive; nothing was changed.
        """
        new = self.make(role, config)
        current: TextModel = getattr(models, role.name)
        if current.calls is not new.calls:
            busy = [calls for calls in models.retired if (status := calls.status()).running or status.queued]
            models.retired = [*busy, current.calls]
        current.identity, current.calls, current.kwargs = new.identity, new.calls, new.kwargs


def model_identity(func: Any, kwargs: Mapping[str, Any], metadata: Mapping[str, Any], default_name: str) -> str:
    """Return what tells one language model from another in cache keys: binding, name, host, function and options.

    Args:
        func: The model function; what a ``functools.partial`` binds counts like ``kwargs``.
        kwargs: Sent with every call.
        metadata: Describes the model.
        default_name: Name of the model when nothing else names it.
    """
    bound: tuple[Any, ...] = ()
    while isinstance(func, partial):
        bound, kwargs, func = (*func.args, *bound), {**func.keywords, **kwargs}, func.func
    own = getattr(func, "identity", None)
    function = own or f"{getattr(func, '__module__', '')}.{getattr(func, '__qualname__', type(func).__qualname__)}"
    name = kwargs.get("model") or metadata.get("model") or default_name
    host = kwargs.get("base_url") or kwargs.get("host") or metadata.get("host") or ""
    parts = [str(metadata.get("binding") or ""), str(name), str(host), str(function)]
    shaping: dict[str, Any] = {key: value for key, value in kwargs.items() if key not in _SILENT_KWARGS}
    if bound:
        shaping[""] = bound
    if shaping:
        parts.append(compute_args_hash(json.dumps(shaping, sort_keys=True, default=_type_name)))
    return "|".join(parts)


def _type_name(value: Any) -> str:
    # The text form of an object may hold its address, which differs in every process.
    return type(value).__qualname__
