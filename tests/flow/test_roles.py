"""Roles through the whole engine: who is called for what, live changes, cache keys, queues, cache clearing."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag import QueryParam, RoleLLMConfig
from lightrag.exceptions import InputError
from lightrag.runtime.endpoints import Binding, ModelEndpoint
from tests.fakes.facts import FactModel
from tests.flow.conftest import EngineFactory

TEXT = "Ann -> Oslo: lives in\nBob -> Rome: visits"


async def noted(prompt: str, **_: Any) -> str:
    return "answer of a binding"


def create_noted(endpoint: ModelEndpoint) -> Any:
    async def complete(prompt: str, *_: Any, **kwargs: Any) -> str:
        return f"{endpoint.model} at {endpoint.base_url}, {sorted(endpoint.options)}"

    return complete


@pytest.fixture
def bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    from lightrag.llm.registry import LLM_BINDINGS

    for name in ("noted", "other"):
        monkeypatch.setitem(LLM_BINDINGS._bindings, name, Binding(__name__, "create_noted"))


async def test_each_role_is_played_by_its_model(make_engine: EngineFactory) -> None:
    base, extract, keyword, query = (FactModel() for _ in range(4))
    rag = await make_engine(
        base,
        role_llm_configs={
            "extract": RoleLLMConfig(func=extract),
            "keyword": {"func": keyword},
            "query": RoleLLMConfig(func=query, kwargs={"temperature": 0}),
        },
    )
    await rag.ainsert(TEXT)
    await rag.aquery("Ann lives in Oslo, who else visits Rome?", QueryParam(mode="hybrid"))
    tasks = [{task for task, _, _ in model.calls} for model in (base, extract, keyword, query)]
    assert tasks == [set(), {"extract"}, {"keywords"}, {"answer"}]


async def test_model_functions_learn_the_models_name_as_existing_code_expects(make_engine: EngineFactory) -> None:
    names: list[str] = []

    class Named(FactModel):
        async def __call__(self, prompt: str, *rest: Any, **kwargs: Any) -> str:
            names.append(kwargs["hashing_kv"].global_config["llm_model_name"])
            return await super().__call__(prompt, *rest, **kwargs)

    rag = await make_engine(Named(), llm_model_name="my-model", llm_model_kwargs={"x": 1})
    await rag.ainsert(TEXT)
    await rag.aquery("Ann lives in Oslo, who else visits Rome?")
    assert set(names) == {"my-model"}
    assert len(names) == 3


async def test_another_answering_model_is_asked_again(make_engine: EngineFactory) -> None:
    rag = await make_engine()
    await rag.ainsert(TEXT)
    question = "Ann lives in Oslo, who else visits Rome?"
    first = await rag.aquery(question)
    assert await rag.aquery(question) == first
    rag.update_llm_role_config("query", model_func=noted)
    assert await rag.aquery(question) == "answer of a binding"
    model = FactModel()
    await rag.aupdate_llm_role_config("query", model_func=model, model_kwargs={"temperature": 0.1})
    assert await rag.aquery(question) == first
    assert model.count("answer") == 1
    await rag.aquery(question)
    assert model.count("answer") == 1, "the same model with the same options is found in the cache"
    rag.update_llm_role_config("query", model_kwargs={"temperature": 0.9})
    await rag.aquery(question)
    assert model.count("answer") == 2


async def test_a_change_before_the_stores_are_open_counts_when_they_are(make_engine: EngineFactory) -> None:
    rag = await make_engine()
    await rag.finalize_storages()
    rag.update_llm_role_config("query", model_func=noted, max_async=3)
    await rag.initialize_storages()
    assert await rag.aquery("Who is it?", QueryParam(mode="bypass")) == "answer of a binding"
    assert (await rag.get_llm_queue_status())["query"]["max_async"] == 3


@pytest.mark.usefixtures("bindings")
async def test_a_binding_can_be_changed_bit_by_bit(make_engine: EngineFactory) -> None:
    rag = await make_engine()

    async def answer() -> Any:
        return await rag.aquery("Who is it?", QueryParam(mode="bypass"))

    with pytest.raises(InputError, match="'query' is played by a function of the user's own: give binding= too"):
        rag.update_llm_role_config("query", model="m")
    rag.update_llm_role_config("query", binding="noted", model="m", host="http://h", api_key="secret")
    assert await answer() == "m at http://h, []"
    rag.update_llm_role_config("query", model="n", provider_options={"top_p": 1})
    assert await answer() == "n at http://h, ['top_p']"
    rag.update_llm_role_config("query", binding="other", model="o")
    assert await answer() == "o at None, []", "address and key belong to the binding they were given for"
    shown = rag.get_llm_role_config("query")
    assert (shown["binding"], shown["model"], shown["host"]) == ("other", "o", "")
    assert "secret" not in repr(rag.get_llm_role_config())
    with pytest.raises(InputError, match="a model_func or model, not both"):
        rag.update_llm_role_config("query", model_func=noted, model="m")
    with pytest.raises(InputError, match="'nobody' is not a binding"):
        rag.update_llm_role_config("query", binding="nobody")
    assert await answer() == "o at None, []"


async def test_roles_are_described(make_engine: EngineFactory) -> None:
    rag = await make_engine(
        llm_model_name="m",
        llm_model_kwargs={"host": "http://h"},
        role_llm_configs={"query": RoleLLMConfig(func=noted, timeout=7, metadata={"model": "q"})},
    )
    rag.set_role_llm_metadata("query", binding="mine", input_price=1.0)
    described = rag.get_llm_role_config()
    assert list(described) == ["extract", "keyword", "query", "vlm"]
    assert described["extract"] == {
        "binding": "",
        "model": "m",
        "host": "http://h",
        "max_async": 4,
        "timeout": 240,
        "metadata": {},
        "own": False,
    }
    assert described["query"] == {
        "binding": "mine",
        "model": "q",
        "host": "",
        "max_async": 4,
        "timeout": 7,
        "metadata": {"model": "q", "binding": "mine", "input_price": 1.0},
        "own": True,
    }
    with pytest.raises(InputError, match="'answer' is not a role"):
        rag.get_llm_role_config("answer")
    with pytest.raises(InputError, match="'answer' is not a role"):
        rag.update_llm_role_config("answer", max_async=1)


async def test_the_role_for_pictures_has_no_effect_and_says_so(
    make_engine: EngineFactory, caplog: pytest.LogCaptureFixture
) -> None:
    rag = await make_engine(role_llm_configs={"vlm": RoleLLMConfig(func=noted)})
    assert "'vlm' has no effect" in caplog.text
    caplog.clear()
    rag.update_llm_role_config("vlm", max_async=2)
    assert "'vlm' has no effect" in caplog.text
    assert rag.get_llm_role_config("vlm")["max_async"] == 2
    await rag.ainsert(TEXT)


async def test_queues_tell_what_they_do(make_engine: EngineFactory) -> None:
    async def rerank(query: str, documents: list[str], top_n: int | None = None) -> list[dict[str, Any]]:
        return [{"index": 0, "relevance_score": 1.0}]

    rag = await make_engine(rerank_model_func=rerank, rerank_model_max_async=2, embedding_func_max_async=3)
    await rag.ainsert(TEXT)
    await rag.aquery("Ann lives in Oslo, who else visits Rome?")
    llm, embedding, reranker = (
        await rag.get_llm_queue_status(),
        await rag.get_embedding_queue_status(),
        await rag.get_rerank_queue_status(),
    )
    assert {name: status["done"] for name, status in llm.items()} == {"extract": 3, "keyword": 3, "query": 3}
    assert (embedding["max_async"], reranker["max_async"], reranker["done"]) == (3, 2, 1)
    assert await (await make_engine(working_dir=rag.working_dir + "2")).get_rerank_queue_status() == {}


async def test_a_cleared_cache_asks_again(make_engine: EngineFactory) -> None:
    model = FactModel()
    rag = await make_engine(model)
    await rag.ainsert(TEXT)
    await rag.aquery("Ann lives in Oslo, who else visits Rome?")
    await rag.aclear_cache()
    assert await rag.llm_response_cache.is_empty()
    await rag.aquery("Ann lives in Oslo, who else visits Rome?")
    assert (model.count("answer"), model.count("keywords")) == (2, 2)
    assert await rag.get_processing_status() == {"processed": 1}
