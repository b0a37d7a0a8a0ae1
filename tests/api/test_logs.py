"""Where log lines go."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from lightrag.api.logs import configure_logging
from lightrag.settings_api import load_api_settings


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder for logs, and close what is written there at the end."""
    yield tmp_path / "new" / "logs"
    for handler in logging.getLogger("lightrag").handlers:
        handler.close()


def test_lines_go_to_a_file_that_is_put_aside_when_it_is_large(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(load_api_settings(log_dir=str(folder), log_max_bytes=2000, log_backup_count=2, log_format="json"))
    for number in range(100):
        logging.getLogger("lightrag.api").warning("line %s", number)
    assert sorted(path.name for path in folder.iterdir()) == ["lightrag.log", "lightrag.log.1", "lightrag.log.2"]
    assert all(path.stat().st_size <= 2000 for path in folder.iterdir())
    last = (folder / "lightrag.log").read_text().splitlines()[-1]
    assert json.loads(last)["message"] == "line 99"
    assert capsys.readouterr().err.splitlines()[-1] == last


def test_without_a_folder_lines_go_to_standard_error_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    configure_logging(load_api_settings())
    logging.getLogger("lightrag.api").warning("only here")
    assert "only here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
