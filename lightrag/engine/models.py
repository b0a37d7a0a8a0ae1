"""Methods about the models: their roles, what they cost, who is told, and the cache of their replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from lightrag.engine.base import EngineBase

if TYPE_CHECKING:
    from lightrag.contracts.models import LLMFunc
    from lightrag.contracts.roles import RoleLLMConfig
    from lightrag.engine.fields import EngineFields
    from lightrag.runtime.events import Listener
    from lightrag.runtime.observation import Observation
    from lightrag.runtime.usage import RoleUsage


class ModelMethods(EngineBase):
    """Change models while the engine runs, see what they cost, listen to what happens."""

    observation: Observation
    roles: dict[str, RoleLLMConfig]

    # --- observation -------------------------------------------------------------------------------------------------

    def on(self, event: str, listener: Listener) -> Callable[[], None]:
        """Listen to events of this engine.

        Args:
            event: ``pipeline``, ``document``, ``chunk``, ``merge``, ``query``, ``model``, or ``*`` for all.
            listener: Called with each event (:mod:`lightrag.runtime.events`) in the event loop that does the work; may
                be an async function. What it raises never reaches the work.

        Returns:
            A function that ends it.

        Raises:
            InputError: There is no such event.
        """
        return self.observation.events.on(event, listener)

    def usage(self) -> dict[str, RoleUsage]:
        """Return what each role has used since the engine was made: calls, tokens, time and, where known, cost.

        The roles are ``extract``, ``keyword``, ``query``, ``embedding`` and ``rerank``, as far as they have models.
        """
        return self.observation.usage()

    # --- cache -------------------------------------------------------------------------------------------------------

    async def aclear_cache(self) -> None:
        """Forget all cached replies of models: answers, keywords, extractions and summaries.

        Raises:
            StorageError: The store could not be written.
        """
        await self.context.cache.clear()

    # --- roles -------------------------------------------------------------------------------------------------------

    def update_llm_role_config(
        self,
        role: str,
        *,
        model_func: LLMFunc | None = None,
        model_kwargs: dict[str, Any] | None = None,
        max_async: int | None = None,
        timeout: int | None = None,
        binding: str | None = None,
        model: str | None = None,
        host: str | None = None,
        api_key: str | None = None,
        provider_options: dict[str, Any] | None = None,
    ) -> None:
        """Change the model of a role, now or for the next opening. Calls that run or wait end with the old one.

        What is not given stays as it is. With ``binding``, ``model``, ``host``, ``api_key`` or ``provider_options`` the
        function is made by that binding; of these too, what is not given stays, as far as the engine knows it.

        Args:
            role: ``extract``, ``keyword``, ``query`` or ``vlm``; the last has no effect.
            model_func: Model function.
            model_kwargs: Sent with every call.
            max_async: Calls that may run at a time.
            timeout: Seconds per attempt.
            binding: Name of a binding, as in ``LLM_BINDING``.
            model: Name of the model.
            host: Address of the server.
            api_key: Key.
            provider_options: Sent with every request.

        Raises:
            InputError: There is no such role or binding, a limit is not positive, or a function and a binding are both
                given; nothing was changed.
            MissingDependencyError: A package that the binding needs is not installed.
        """
        from lightrag.engine.role_changes import changed_config

        given = {"func": model_func, "kwargs": model_kwargs, "max_async": max_async, "timeout": timeout}
        place = {
            "binding": binding,
            "model": model,
            "host": host,
            "api_key": api_key,
            "provider_options": provider_options,
        }
        self._apply(role, changed_config(self._fields(), self.roles, role, given, place))

    async def aupdate_llm_role_config(self, role: str, **changes: Any) -> None:
        """As :meth:`update_llm_role_config`."""
        self.update_llm_role_config(role, **changes)

    def set_role_llm_metadata(self, role: str, **metadata: Any) -> None:
        """Describe the model of a role: ``binding``, ``model``, ``host``, ``input_price``, ``output_price``, ...

        Raises:
            InputError: There is no such role.
        """
        from lightrag.contracts.roles import RoleLLMConfig, check_role

        config = self.roles.get(check_role(role)) or RoleLLMConfig()
        self._apply(role, replace(config, metadata={**(config.metadata or {}), **metadata}))

    def get_llm_role_config(self, role: str | None = None) -> dict[str, Any]:
        """Return binding, model, host and limits of a role, or of each role by name. Keys are never shown.

        Raises:
            InputError: There is no such role.
        """
        from lightrag.contracts.roles import ROLES, check_role
        from lightrag.engine.role_changes import described

        if role is not None:
            return described(self._fields(), self.roles, check_role(role))
        return {spec.name: described(self._fields(), self.roles, spec.name) for spec in ROLES}

    def _apply(self, role: str, config: RoleLLMConfig) -> None:
        from lightrag.contracts.roles import ROLES
        from lightrag.engine.startup import warn_of_vision

        spec = next(spec for spec in ROLES if spec.name == role)
        warn_of_vision([role])
        context = self._context
        if context is not None and context.roles is not None and role != "vlm":
            context.roles.replace(context.models, spec, config)
        self.roles[role] = config

    def _fields(self) -> EngineFields:
        from lightrag.engine.fields import EngineFields

        assert isinstance(self, EngineFields)
        return self

    # --- queues ------------------------------------------------------------------------------------------------------

    async def get_llm_queue_status(self, include_base: bool = True) -> dict[str, Any]:
        """Return what the calls of each role are doing, by role; roles that share their slots show the same figures.

        Args:
            include_base: Accepted; every role is always listed.
        """
        return {model.role: asdict(model.calls.status()) for model in self.context.models.text_models()}

    async def get_embedding_queue_status(self) -> dict[str, Any]:
        """Return what the calls of the embedding model are doing."""
        return asdict(self.context.models.embedder.calls.status())

    async def get_rerank_queue_status(self) -> dict[str, Any]:
        """Return what the calls of the reranker are doing; empty without one."""
        rerank = self.context.models.rerank
        return {} if rerank is None else asdict(rerank.status())
