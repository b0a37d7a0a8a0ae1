"""Fields of the engine beyond its models: what takes effect, what says that it has none, what is refused."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.exceptions import InputError, PipelineBusyError
from tests.fakes.facts import FactModel, make_embedding
from tests.flow.conftest import EngineFactory

TEXT = "Ann -> Oslo: lives in\nBob -> Rome: visits"


def make(tmp_path: Path, **fields: Any) -> LightRAG:
    return LightRAG(
        working_dir=str(tmp_path / "store"), llm_model_func=FactModel(), embedding_func=make_embedding(), **fields
    )


def test_none_takes_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNK_SIZE", "700")
    rag = make(tmp_path, chunk_token_size=None, chunk_overlap_token_size=None, top_k=None)
    assert (rag.chunk_token_size, rag.chunk_overlap_token_size, rag.top_k) == (700, 100, 40)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("queue_size_parse", 5),
        ("max_parallel_analyze", 2),
        ("queue_size_analyze", 3),
        ("vlm_process_enable", True),
        ("embedding_cache_config", {"enabled": True, "similarity_threshold": 0.9}),
    ],
)
def test_a_field_without_effect_says_so(
    field: str, value: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path)
    assert caplog.text == ""
    make(tmp_path, **{field: value})
    (line,) = (record.getMessage() for record in caplog.records)
    assert field in line
    assert "no effect" in line.lower()


def test_a_variable_without_effect_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("VLM_PROCESS_ENABLE", "true")
    make(tmp_path)
    assert "vlm_process_enable=True: No effect" in caplog.text


@pytest.mark.parametrize(("field", "value"), [("log_level", "DEBUG"), ("log_file_path", "x.log")])
def test_deprecated_fields_warn_at_the_line_that_gives_them(field: str, value: Any, tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match=f"{field} is deprecated and has no effect") as caught:
        LightRAG(
            working_dir=str(tmp_path), llm_model_func=FactModel(), embedding_func=make_embedding(), **{field: value}
        )
    assert caught[0].filename == __file__
    assert not (tmp_path / "x.log").exists()


def test_mistyped_keys_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rag = make(tmp_path, addon_params={"langauge": "French"}, embedding_cache_config={"enable": True})
    assert "embedding_cache_config['enable'] is not read" in caplog.text
    from lightrag.engine.startup import addon_of

    addon_of(rag, rag._settings)
    assert "addon_params['langauge'] is not read" in caplog.text
    assert "did you mean 'language'?" in caplog.text


def test_entity_types_in_the_environment_are_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("ENTITY_TYPES='[\"person\"]'\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"sets ENTITY_TYPES=.*entity_types_guidance.*ENTITY_TYPE_PROMPT_FILE"):
        make(tmp_path)
    Path(".env").unlink()
    make(tmp_path)
    monkeypatch.setenv("ENTITY_TYPES", "person")
    with pytest.raises(InputError, match="ENTITY_TYPES='person'"):
        make(tmp_path)


async def test_guidance_on_entity_types_reaches_the_model(
    make_engine: EngineFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "types.md").write_text("Look for bridges only.\n", encoding="utf-8")
    monkeypatch.setenv("PROMPT_DIR", str(tmp_path))
    seen: list[str] = []
    for number, given in enumerate(
        [
            {"addon_params": {"entity_types_guidance": "Look for ships only."}},
            {"addon_params": {"entity_type_prompt_file": "types.md"}},
            {"entity": "types.md"},
        ]
    ):
        if "entity" in given:
            monkeypatch.setenv("ENTITY_TYPE_PROMPT_FILE", given.pop("entity"))
        model = FactModel()
        rag = await make_engine(model, working_dir=str(tmp_path / f"s{number}"), **given)
        await rag.ainsert(TEXT)
        seen.append(next(system for task, _, system in model.calls if task == "extract"))
    assert ["Look for ships only." in prompt for prompt in seen] == [True, False, False]
    assert ["Look for bridges only." in prompt for prompt in seen] == [False, True, True]


async def test_a_prompt_file_that_cannot_be_read_is_told_before_anything_is_opened(tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    for name, reason in (("gone.md", "No such file"), ("empty.md", "holds no text"), ("latin.md", "not text in UTF-8")):
        rag = make(tmp_path, addon_params={"entity_type_prompt_file": str(tmp_path / name)})
        with pytest.raises(InputError, match=reason):
            await rag.initialize_storages()
        assert not (tmp_path / "store").exists()
        with pytest.raises(InputError, match=reason):
            make(tmp_path, user_prompt_prefix_file=str(tmp_path / name))


async def test_the_prefix_of_user_prompts_from_a_field_and_from_a_file(
    make_engine: EngineFactory, tmp_path: Path
) -> None:
    (tmp_path / "prefix.md").write_text("Answer like a pirate.\n", encoding="utf-8")
    for number, given in enumerate(
        [
            {"user_prompt_prefix": "Answer like a pirate."},
            {"user_prompt_prefix_file": str(tmp_path / "prefix.md")},
            {"user_prompt_prefix": "Answer like a monk.", "user_prompt_prefix_file": str(tmp_path / "prefix.md")},
        ]
    ):
        rag = await make_engine(working_dir=str(tmp_path / f"s{number}"), **given)
        await rag.ainsert(TEXT)
        param = QueryParam(mode="naive", only_need_prompt=True)
        prompt = await rag.aquery("Ann lives in Oslo", param)
        assert ("pirate" in prompt) == (number < 2)
        param.disable_user_prompt_prefix = True
        assert "Answer like a" not in await rag.aquery("Ann lives in Oslo", param)


async def test_too_many_waiting_documents_are_refused(make_engine: EngineFactory) -> None:
    rag = await make_engine(max_pending_documents=2)
    await rag.apipeline_enqueue_documents(["one", "two"])
    with pytest.raises(PipelineBusyError, match="2 documents wait and 1 arrive; max_pending_documents is 2"):
        await rag.apipeline_enqueue_documents("three")
    assert await rag.get_processing_status() == {"pending": 2}
    await rag.apipeline_process_enqueue_documents()
    assert await rag.apipeline_enqueue_documents("three") is not None


@pytest.mark.parametrize("prefixes", ['["tenant:"]', ["ten ant:"], ["日本:"]])
def test_a_prefix_that_no_tag_can_have_is_refused_at_once(tmp_path: Path, prefixes: Any) -> None:
    with pytest.raises(InputError, match="scope prefix"):
        make(tmp_path, scope_tag_prefixes=prefixes)


def test_a_negative_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="max_pending_documents=-1"):
        make(tmp_path, max_pending_documents=-1)


async def test_a_text_too_long_for_the_embedding_model_is_sent_in_windows(make_engine: EngineFactory) -> None:
    embedding = make_embedding()
    embedding.max_token_size = 30
    sent: list[str] = []
    inner = embedding.func

    async def noting(texts: list[str]) -> Any:
        sent.extend(texts)
        return await inner(texts)

    embedding.func = noting
    rag = await make_engine(embedding_func=embedding, embedding_chunk_overlap_token_size=5)
    assert rag.embedding_token_limit == 30
    long = " ".join(f"word{number}" for number in range(60))
    await rag.ainsert(long)
    tokens = [len(rag.context.models.tokenizer.encode(text)) for text in sent]
    assert max(tokens) <= 31, "a border may fall where the pieces count one more"
    assert len(sent) > 4
    assert await rag.get_processing_status() == {"processed": 1}


async def test_the_engine_as_a_context_manager(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with make(tmp_path) as rag:
            assert rag.is_open
            await rag.ainsert(TEXT)
    assert not rag.is_open
