"""What becomes of a role when it is changed while the engine runs, and how a role is described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lightrag.contracts.roles import RoleLLMConfig, check_role
from lightrag.exceptions import InputError
from lightrag.llm.registry import BoundLLM, create_llm
from lightrag.runtime.endpoints import ModelEndpoint

if TYPE_CHECKING:
    from lightrag.engine.fields import EngineFields


def changed_config(
    engine: EngineFields,
    roles: Mapping[str, RoleLLMConfig],
    role: str,
    given: Mapping[str, Any],
    place: Mapping[str, Any],
) -> RoleLLMConfig:
    """Return the configuration of a role after a change.

    Args:
        engine: Has what the role does not have of its own.
        roles: Configurations so far.
        role: The role.
        given: New values of ``func``, ``kwargs``, ``max_async`` and ``timeout``; ``None`` keeps one.
        place: New values of ``binding``, ``model``, ``host``, ``api_key`` and ``provider_options``; ``None`` keeps one.

    Raises:
        InputError: There is no such role or binding, or a function and a binding are both given.
        MissingDependencyError: A package that the binding needs is not installed.
    """
    config = roles.get(check_role(role)) or RoleLLMConfig()
    changes = {name: value for name, value in given.items() if value is not None}
    wanted = {name: value for name, value in place.items() if value is not None}
    if not wanted:
        return replace(config, **changes)
    if "func" in changes:
        raise InputError(f"give the role {role!r} a model_func or {', '.join(sorted(wanted))}, not both")
    func, metadata = _bound(engine, config, role, wanted)
    changes.setdefault("kwargs", {})
    return replace(config, **{**changes, "func": func, "metadata": metadata})


def _bound(
    engine: EngineFields, config: RoleLLMConfig, role: str, wanted: Mapping[str, Any]
) -> tuple[BoundLLM, dict[str, Any]]:
    """Return the function of a binding, and what describes it."""
    current = config.func or engine.llm_model_func
    known = current if isinstance(current, BoundLLM) else None
    metadata = dict(config.metadata or {})
    binding = wanted.get("binding") or metadata.get("binding") or (known.binding if known else "")
    if not binding:
        raise InputError(f"the role {role!r} is played by a function of the user's own: give binding= too")
    same = known is not None and known.binding == binding
    endpoint = known.endpoint if known is not None and same else ModelEndpoint(engine.llm_model_name)
    endpoint = replace(
        endpoint,
        model=wanted.get("model") or (metadata.get("model") if same else None) or endpoint.model,
        base_url=wanted.get("host") or endpoint.base_url,
        api_key=wanted.get("api_key") or endpoint.api_key,
        options={**endpoint.options, **(wanted.get("provider_options") or {})},
    )
    described_by = {"binding": binding, "model": endpoint.model, "host": endpoint.base_url or ""}
    # Prices belong to the model that they were given for.
    kept = metadata if not wanted.keys() & {"binding", "model", "host"} else {}
    return create_llm(binding, endpoint), {**kept, **described_by}


def described(engine: EngineFields, roles: Mapping[str, RoleLLMConfig], role: str) -> dict[str, Any]:
    """Return what may be shown of a role."""
    config = roles.get(role) or RoleLLMConfig()
    func = config.func or engine.llm_model_func
    bound = func if isinstance(func, BoundLLM) else None
    kwargs = {**({} if config.func is not None else engine.llm_model_kwargs), **(config.kwargs or {})}
    metadata = config.metadata or {}
    name = kwargs.get("model") or metadata.get("model") or (bound.endpoint.model if bound else engine.llm_model_name)
    host = kwargs.get("base_url") or kwargs.get("host") or metadata.get("host") or (bound and bound.endpoint.base_url)
    return {
        "binding": metadata.get("binding") or (bound.binding if bound else ""),
        "model": name,
        "host": host or "",
        "max_async": config.max_async or engine.llm_model_max_async,
        "timeout": config.timeout or engine.default_llm_timeout,
        "metadata": dict(metadata),
        "own": config.func is not None or bool(config.kwargs) or bool(config.max_async) or bool(config.timeout),
    }
