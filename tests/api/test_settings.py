"""Settings and command line of the server."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from lightrag.api.app import create_app
from lightrag.api.arguments import FLAGS, parse_arguments
from lightrag.api.config import parse_args
from lightrag.api.lightrag_server import get_application, main
from lightrag.exceptions import InputError
from lightrag.lightrag import LightRAG
from lightrag.settings_api import (
    WITHOUT_EFFECT,
    ApiSettings,
    environment_names,
    load_api_settings,
    unknown_variables,
    variables_without_effect,
)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in environment_names():
        monkeypatch.delenv(name, raising=False)


def test_defaults_need_no_key_and_no_network() -> None:
    settings = load_api_settings()
    assert (settings.llm_binding, settings.embedding_binding, settings.rerank_binding) == ("offline", "offline", "null")
    assert (settings.host, settings.port) == ("0.0.0.0", 9621)
    assert settings.whitelist_paths == ["/health"]


def test_environment_and_file_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=1111\nHOST=127.0.0.9\nWHITELIST_PATHS=/health,/api/*\nLOG_LEVEL=debug\n")
    monkeypatch.setenv("PORT", "2222")
    monkeypatch.setenv("LIGHTRAG_API_PREFIX", "/rag")
    settings = load_api_settings()
    assert (settings.port, settings.host, settings.api_prefix) == (2222, "127.0.0.9", "/rag")
    assert settings.whitelist_paths == ["/health", "/api/*"]
    assert settings.log_level == "DEBUG"


def test_unusable_values_name_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "many")
    with pytest.raises(InputError, match=r"(?i)port"):
        load_api_settings()


def test_every_setting_is_described_in_one_line() -> None:
    for name, field in ApiSettings.model_fields.items():
        assert field.description, name
        assert "\n" not in field.description
        assert len(field.description) <= 110, name


def test_misspelt_names_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LIGHTRAG_API_KEYS", "x")
    monkeypatch.setenv("LIGHTRAG_API_KEY", "x")
    (tmp_path / ".env").write_text("LIGHTRAG_SCOPE_PREFIXES=tenant:\nLIGHTRAG_ZZZ=1\nOTHER=1\n")
    found = unknown_variables()
    assert found == {
        "LIGHTRAG_API_KEYS": "LIGHTRAG_API_KEY",
        "LIGHTRAG_SCOPE_PREFIXES": "LIGHTRAG_SCOPE_TAG_PREFIXES",
        "LIGHTRAG_ZZZ": "",
    }


def test_variables_of_the_published_package_that_do_nothing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not WITHOUT_EFFECT.keys() & environment_names()
    for name in WITHOUT_EFFECT:
        monkeypatch.delenv(name, raising=False)
    assert variables_without_effect() == {}
    monkeypatch.setenv("WORKERS", "4")
    monkeypatch.setenv("VERBOSE", "False")
    assert variables_without_effect() == {"WORKERS": "one process serves"}


def test_flags_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "2222")
    arguments = parse_arguments(
        ["--port", "3333", "--key", "k", "--working-dir", "w", "--workspace", "x", "--max-async", "9", "--verbose",
         "--timeout", "5", "--workers", "4"]
    )  # fmt: skip
    assert arguments.settings.port == 3333
    assert arguments.settings.lightrag_api_key == "k"
    assert arguments.settings.log_level == "DEBUG"
    assert arguments.engine_fields == {"working_dir": "w", "workspace": "x", "llm_model_max_async": 9}
    assert arguments.ignored == ("--timeout", "--workers")


def test_every_flag_sets_something_that_exists() -> None:
    known = set(ApiSettings.model_fields) | set(LightRAG.__dataclass_fields__) | {"", "verbose"}
    assert {flag.field for flag in FLAGS} <= known


def test_app_from_arguments_as_the_published_server_takes_them(tmp_path: Path) -> None:
    args = Namespace(
        host="127.0.0.1", key=None, working_dir=str(tmp_path / "w"), input_dir=str(tmp_path / "in"), workspace="books"
    )
    app = create_app(args)
    state = app.state.server
    assert state.engine.working_dir == str(tmp_path / "w")
    assert state.inputs.root == tmp_path / "in" / "books"
    assert state.settings.host == "127.0.0.1"
    assert not list(tmp_path.iterdir())


def test_a_key_among_arguments_closes_the_server() -> None:
    # The published server calls it so; a key that is not understood would leave the server open.
    assert create_app(Namespace(key="secret")).state.server.settings.lightrag_api_key == "secret"
    args = parse_args(["--key", "secret", "--max-async", "9"])
    assert (args.key, args.max_async, args.port) == ("secret", 9, 9621)
    state = get_application(args).state.server
    assert (state.settings.lightrag_api_key, state.engine.llm_model_max_async) == ("secret", 9)


def test_help_names_variable_and_default_of_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "address to listen on [HOST; 0.0.0.0]" in shown
    assert "API key that requests must carry [LIGHTRAG_API_KEY; none]" in shown
    assert "language model calls at a time [MAX_ASYNC_LLM; 4]" in shown
    assert "serve HTTPS [SSL; off]" in shown
    told = [flag for flag in FLAGS if flag.field and flag.field != "verbose"]
    assert shown.count("; ") >= len(told)
    assert all(f"{flag.help} [" in shown for flag in told)


def test_wrong_starts_end_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", "0.0.0.0", "--llm-binding", "magic"]) == 1
    assert "lightrag-server: " in capsys.readouterr().err
    assert main(["--log-level", "loud"]) == 1
    assert "log_level" in capsys.readouterr().err


def test_hash_for_accounts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("a password\n"))
    assert main(["--hash-password"]) == 0
    assert capsys.readouterr().out.startswith("{bcrypt}$2b$")
