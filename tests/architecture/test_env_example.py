"""env.example says every setting, its default and what it is for, and nothing else; every name in it is really read."""

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from lightrag.settings import Settings, load_settings
from lightrag.settings_api import ApiSettings, load_api_settings

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = (ROOT / "env.example").read_text(encoding="utf-8")
LINE = re.compile(r"^#([A-Z0-9_]+)=(.*)$", re.MULTILINE)

specification = importlib.util.spec_from_file_location("make_env_example", ROOT / "scripts" / "make_env_example.py")
assert specification is not None
assert specification.loader is not None
make_env_example = importlib.util.module_from_spec(specification)
specification.loader.exec_module(make_env_example)

LOADERS: dict[str, Callable[[], BaseSettings]] = {
    **dict.fromkeys(Settings.model_fields, load_settings),
    **dict.fromkeys(ApiSettings.model_fields, load_api_settings),
}
FIELDS: dict[str, FieldInfo] = {**Settings.model_fields, **ApiSettings.model_fields}


def names(field: str) -> list[str]:
    found: list[str] = make_env_example.environment_names(field, FIELDS[field])
    return found


def test_file_is_what_the_script_writes() -> None:
    assert make_env_example.render() == EXAMPLE, "run scripts/make_env_example.py"


def test_file_and_settings_name_the_same_variables() -> None:
    written = [name for name, _ in LINE.findall(EXAMPLE)]
    assert sorted(written) == sorted(names(field)[0] for field in FIELDS)


def test_no_variable_is_read_as_two_settings() -> None:
    read = [name for field in FIELDS for name in names(field)]
    assert len(set(read)) == len(read) == len({name for kind in LOADERS for name in names(kind)})
    assert Settings.model_fields.keys().isdisjoint(ApiSettings.model_fields)


@pytest.mark.parametrize("field", FIELDS)
def test_setting_is_described_in_one_line(field: str) -> None:
    description = FIELDS[field].description or ""
    assert re.fullmatch(r"[A-Z][^\n]{5,110}", description), f"{field}: {description!r}"


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder without .env, and an environment without our variables."""
    monkeypatch.chdir(tmp_path)
    for field in FIELDS:
        for name in names(field):
            monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("load", [load_settings, load_api_settings])
def test_file_as_env_changes_nothing(load: Callable[[], BaseSettings], clean: Path) -> None:
    (clean / ".env").write_text(LINE.sub(r"\1=\2", EXAMPLE), encoding="utf-8")
    written = load()
    (clean / ".env").unlink()
    assert written == load()


def another_value(field: str) -> tuple[str, Any]:
    """Return a text that is allowed and is not the default, and what it is read as."""
    info = FIELDS[field]
    default = info.get_default(call_default_factory=True)
    if isinstance(default, bool):
        return str(not default).lower(), not default
    if isinstance(default, int | float):
        value = default + 1 if isinstance(default, int) else default + 0.125
        return str(value), value
    if isinstance(default, list):
        return "tenant:, lang:", ["tenant:", "lang:"]
    choices = [choice for choice in get_args(info.annotation) if choice != default]
    value = choices[0] if choices else f"{default}x"
    return str(value), value


@pytest.mark.parametrize("field", FIELDS)
def test_every_name_is_read(field: str, clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, value = another_value(field)
    for name in names(field):
        monkeypatch.setenv(name, text)
        assert getattr(LOADERS[field](), field) == value, name
        monkeypatch.delenv(name)
