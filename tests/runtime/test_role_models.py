"""Models of roles: what they share, what is theirs, what tells them apart in cache keys, and changes while they run."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from lightrag.contracts.roles import EXTRACT_ROLE, QUERY_ROLE, ROLES, RoleLLMConfig, check_role, role_configs
from lightrag.exceptions import InputError
from lightrag.runtime.model_set import ModelSet
from lightrag.runtime.observation import Observation
from lightrag.runtime.role_models import ModelDefaults, RoleModels, model_identity
from lightrag.runtime.usage import Prices
from tests.fakes.models import ScriptedLLM, WordTokenizer, fake_models


def role_models(func: Any = None, **defaults: Any) -> RoleModels:
    given = {
        "name": "base",
        "kwargs": {"base_url": "http://h", "temperature": 0.1},
        "max_async": 4,
        "timeout": 60.0,
        **defaults,
    }
    return RoleModels(ModelDefaults(func or ScriptedLLM(), **given), Observation(), WordTokenizer())


def test_roles_are_named() -> None:
    assert [role.name for role in ROLES] == ["extract", "keyword", "query", "vlm"]
    assert [role.env_prefix for role in ROLES] == ["EXTRACT", "KEYWORD", "QUERY", "VLM"]
    assert check_role("vlm") == "vlm"
    with pytest.raises(InputError, match="'answer' is not a role; roles are extract, keyword, query, vlm"):
        check_role("answer")


def test_configurations_may_be_mappings_and_are_checked() -> None:
    configs = role_configs({"query": {"max_async": 2}, "extract": RoleLLMConfig(timeout=3)})
    assert configs == {"query": RoleLLMConfig(max_async=2), "extract": RoleLLMConfig(timeout=3)}
    assert role_configs(None) == {}
    with pytest.raises(InputError, match="'summary' is not a role"):
        role_configs({"summary": RoleLLMConfig()})
    with pytest.raises(InputError, match=r"role_llm_configs\['query'\] has \['model'\]; allowed are func"):
        role_configs({"query": {"model": "m"}})
    with pytest.raises(InputError, match="expected a RoleLLMConfig"):
        role_configs({"query": 3})  # type: ignore[dict-item]


def test_a_role_with_nothing_of_its_own_shares_the_slots() -> None:
    makes = role_models()
    extract, query = makes.make(EXTRACT_ROLE, RoleLLMConfig()), makes.make(QUERY_ROLE, RoleLLMConfig(kwargs={"x": 1}))
    assert extract.calls is query.calls
    assert extract.calls.status().max_async == 4
    assert query.kwargs == {"base_url": "http://h", "temperature": 0.1, "x": 1}


async def test_limits_of_its_own_give_a_role_its_own_slots() -> None:
    makes = role_models()
    query = makes.make(QUERY_ROLE, RoleLLMConfig(max_async=2))
    assert (query.calls.status().max_async, query.calls.status().timeout) == (2, 60.0)
    slow = makes.make(QUERY_ROLE, RoleLLMConfig(timeout=5))
    assert (slow.calls.status().max_async, slow.calls.status().timeout) == (4, 5.0)
    assert await query.text("Q") == "An answer [1]."
    with pytest.raises(InputError, match="max_async=0"):
        makes.make(QUERY_ROLE, RoleLLMConfig(max_async=0))


async def test_a_function_of_its_own_gets_its_own_arguments_alone() -> None:
    base, own = ScriptedLLM(), ScriptedLLM(default="own")
    marker = object()
    makes = role_models(base, hashing_kv=marker)
    query = makes.make(QUERY_ROLE, RoleLLMConfig(func=own, kwargs={"top_p": 1}))
    assert await query.text("Q") == "own"
    assert own.calls[0].options == {"top_p": 1, "hashing_kv": marker}
    assert base.calls == []


def test_prices_belong_to_the_model_they_were_given_for() -> None:
    makes = role_models(prices=Prices(1.0, 2.0))
    prices = [
        makes.make(QUERY_ROLE, config).observer.meter.prices  # type: ignore[union-attr]
        for config in (
            RoleLLMConfig(),
            RoleLLMConfig(metadata={"input_price": 3.0}),
            RoleLLMConfig(func=ScriptedLLM()),
            RoleLLMConfig(func=ScriptedLLM(), metadata={"input_price": 4, "output_price": 5}),
        )
    ]
    assert prices == [Prices(1.0, 2.0), Prices(3.0, 2.0), Prices(), Prices(4.0, 5.0)]


async def one_model(prompt: str, **_: Any) -> str:
    return ""


async def other_model(prompt: str, **_: Any) -> str:
    return ""


def identity(func: Any = one_model, name: str = "m", metadata: dict[str, Any] | None = None, **kwargs: Any) -> str:
    return model_identity(func, kwargs, metadata or {}, name)


@pytest.mark.parametrize(
    "other",
    [
        identity(other_model),
        identity(name="n"),
        identity(model="n"),
        identity(base_url="http://other"),
        identity(host="http://other"),
        identity(temperature=0.7),
        identity(metadata={"binding": "openai"}),
        identity(metadata={"model": "n"}),
        identity(metadata={"host": "http://other"}),
        identity(partial(one_model, "n")),
        identity(partial(partial(one_model, model="n"))),
        identity(partial(one_model, temperature=0.7)),
    ],
)
def test_what_changes_replies_changes_the_identity(other: str) -> None:
    assert other != identity()


@pytest.mark.parametrize(
    "same",
    [
        identity(api_key="secret"),
        identity(timeout=3),
        identity(hashing_kv=object()),
        identity(metadata={"input_price": 3}),
        identity(partial(one_model, api_key="secret")),
    ],
)
def test_what_does_not_change_replies_leaves_it(same: str) -> None:
    assert same == identity()
    assert "secret" not in same


def test_objects_among_the_options_have_no_address_in_it() -> None:
    assert identity(client=object()) == identity(client=object()) != identity()


async def test_a_change_while_calls_run() -> None:
    release = asyncio.Event()

    async def old(prompt: str, **_: Any) -> str:
        await release.wait()
        return "old"

    makes = role_models(old, max_async=1)
    models: ModelSet = fake_models()
    models.query = makes.make(QUERY_ROLE, RoleLLMConfig())
    models.extract = makes.make(EXTRACT_ROLE, RoleLLMConfig())
    running = asyncio.create_task(models.query.text("first"))
    waiting = asyncio.create_task(models.query.text("second"))
    await asyncio.sleep(0.01)
    before = models.query.identity
    makes.replace(models, QUERY_ROLE, RoleLLMConfig(func=ScriptedLLM(default="new")))
    assert models.query.identity != before
    assert await models.query.text("third") == "new"
    release.set()
    assert await asyncio.gather(running, waiting) == ["old", "old"]
    assert await models.extract.text("fourth") == "old", "other roles keep theirs"
    makes.replace(models, QUERY_ROLE, RoleLLMConfig())
    assert await models.query.text("fifth") == "old"
    assert models.query.identity == before
    await models.shutdown()


async def test_a_refused_change_changes_nothing() -> None:
    makes = role_models()
    models: ModelSet = fake_models()
    models.query = makes.make(QUERY_ROLE, RoleLLMConfig())
    calls = models.query.calls
    with pytest.raises(InputError):
        makes.replace(models, QUERY_ROLE, RoleLLMConfig(max_async=-1))
    assert models.query.calls is calls


async def test_replaced_functions_are_stopped_with_the_others() -> None:
    async def hangs(prompt: str, **_: Any) -> str:
        await asyncio.Event().wait()
        return ""

    makes = role_models(hangs)
    models: ModelSet = fake_models()
    models.query = makes.make(QUERY_ROLE, RoleLLMConfig(max_async=1))
    running = asyncio.create_task(models.query.text("first"))
    await asyncio.sleep(0.01)
    for number in range(3):
        makes.replace(models, QUERY_ROLE, RoleLLMConfig(func=ScriptedLLM(), max_async=number + 1))
    assert len(models.retired) == 2, "those that nobody calls are let go"
    await models.shutdown()
    with pytest.raises(Exception, match="was shut down"):
        await running
