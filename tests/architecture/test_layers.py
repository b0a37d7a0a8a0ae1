"""Imports go downward only, and nothing inside imports from the package root."""

import ast
from pathlib import Path

import pytest
from importlinter import cli

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "lightrag"
FILES = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))


def test_layers_and_cycles(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    status = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == cli.EXIT_STATUS_SUCCESS, capsys.readouterr().out


def root_imports(tree: ast.AST) -> list[str]:
    """Return the names that are imported from ``lightrag`` itself and are not its submodules."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "lightrag" and node.level == 0:
            found += [alias.name for alias in node.names if not is_submodule(alias.name)]
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name == "lightrag"]
    return found


def is_submodule(name: str) -> bool:
    return (PACKAGE / f"{name}.py").is_file() or (PACKAGE / name / "__init__.py").is_file()


@pytest.mark.parametrize("path", FILES)
def test_nothing_is_imported_from_the_package_root(path: str) -> None:
    found = root_imports(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    assert not found, f"{path} imports {found} from the package root, which leads in circles"


def test_the_rule_sees_an_import_from_the_root() -> None:
    source = "from lightrag import LightRAG, constants\nimport lightrag\nimport lightrag.types\n"
    assert root_imports(ast.parse(source)) == ["LightRAG", "lightrag"]
