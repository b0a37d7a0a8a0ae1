"""The roles that language models play, and what a role can be given of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lightrag.contracts.models import LLMFunc
from lightrag.exceptions import InputError


@dataclass(frozen=True)
class RoleSpec:
    """A role.

    Attributes:
        name: How it is named in ``role_llm_configs``.
        env_prefix: Start of the environment variables that concern it alone.
        queue_name: Names its calls in messages and figures.
    """

    name: str
    env_prefix: str
    queue_name: str


EXTRACT_ROLE = RoleSpec("extract", "EXTRACT", "extract model")
KEYWORD_ROLE = RoleSpec("keyword", "KEYWORD", "keyword model")
QUERY_ROLE = RoleSpec("query", "QUERY", "query model")
# Nothing calls it: pictures are not looked at. It exists so that settings for it are told apart from mistakes.
VLM_ROLE = RoleSpec("vlm", "VLM", "vlm model")

ROLES: tuple[RoleSpec, ...] = (EXTRACT_ROLE, KEYWORD_ROLE, QUERY_ROLE, VLM_ROLE)


@dataclass
class RoleLLMConfig:
    """What a role has of its own; ``None`` takes what the engine has for all roles.

    Attributes:
        func: Model function.
        kwargs: Sent with every call. Beside the engine's own function they are added to ``llm_model_kwargs`` and win
            over it; a function of the role's own gets them alone.
        max_async: Calls that may run at a time. With it, with a function or with a time limit of its own a role no
            longer shares the slots of the other roles.
        timeout: Seconds per attempt.
        metadata: Describes the model: ``binding``, ``model`` and ``host`` tell it from others in cache keys,
            ``input_price`` and ``output_price`` (of a million tokens) make its cost known.
    """

    func: LLMFunc | None = None
    kwargs: dict[str, Any] | None = field(default=None, repr=False)
    max_async: int | None = None
    timeout: int | None = None
    metadata: dict[str, Any] | None = None


def check_role(name: str) -> str:
    """Return the name of a role.

    Raises:
        InputError: There is no such role.
    """
    known = [role.name for role in ROLES]
    if name not in known:
        raise InputError(f"{name!r} is not a role; roles are {', '.join(known)}")
    return name


def role_configs(given: Mapping[str, RoleLLMConfig | Mapping[str, Any]] | None) -> dict[str, RoleLLMConfig]:
    """Return what was given for roles, as :class:`RoleLLMConfig`.

    Args:
        given: Configurations, or mappings with their fields, by role.

    Raises:
        InputError: A role or a field is unknown, or a value is no configuration.
    """
    known = {item.name for item in fields(RoleLLMConfig)}
    configs: dict[str, RoleLLMConfig] = {}
    for role, value in (given or {}).items():
        check_role(role)
        if isinstance(value, RoleLLMConfig):
            configs[role] = value
            continue
        if not isinstance(value, Mapping):
            raise InputError(f"role_llm_configs[{role!r}] is {value!r}; expected a RoleLLMConfig")
        unknown = sorted(set(value) - known)
        if unknown:
            raise InputError(f"role_llm_configs[{role!r}] has {unknown!r}; allowed are {', '.join(sorted(known))}")
        configs[role] = RoleLLMConfig(**value)
    return configs
