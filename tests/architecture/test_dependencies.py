"""pyproject.toml declares what lightrag/ imports, and nothing that it does not import."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lightrag

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@cache
def imported_packages(folder: Path) -> dict[str, str]:
    """Return the top-level packages that a folder imports, literal ``import_module`` included, each with one file."""
    found: dict[str, str] = {}
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for name in names_of(node):
                found.setdefault(name.partition(".")[0], path.relative_to(ROOT).as_posix())
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names | {"lightrag"}}


def names_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "find_spec")):
        return [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    return []


def declared(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def distributions_of(package: str) -> set[str]:
    return {canonicalize_name(name) for name in packages_distributions().get(package, [package])}


CORE = declared(PROJECT["dependencies"])
EXTRAS = {name: declared(texts) for name, texts in PROJECT["optional-dependencies"].items() if name != "dev"}

BROUGHT_ALONG = {"anthropic": "any-llm-sdk", "anyio": "fastapi", "httpx2": "openai", "starlette": "fastapi"}
"""Packages used only beside another one that is built on them, in the version that it chooses."""


def test_every_import_is_declared() -> None:
    known = CORE.union(*EXTRAS.values())
    missing = {
        name: path for name, path in imported_packages(ROOT / "lightrag").items() if not distributions_of(name) & known
    }
    assert missing.keys() <= BROUGHT_ALONG.keys(), missing
    assert {BROUGHT_ALONG[name] for name in missing} <= known


def test_every_core_dependency_is_imported() -> None:
    used = set().union(*(distributions_of(name) for name in imported_packages(ROOT / "lightrag")))
    assert used >= CORE, f"not imported anywhere in lightrag/: {sorted(CORE - used)}"


def named_extras(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield package and extra of every place that tells a user, or a table, what to install."""
    positions = {"MissingDependencyError": (0, 1), "_require": (0, 1), "Binding": (2, 3), "Backend": (None, 2)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in positions:
            continue
        values = {keyword.arg: keyword.value for keyword in node.keywords}
        for name, position in zip(("package", "extra"), positions[node.func.id], strict=True):
            if position is not None and position < len(node.args):
                values.setdefault(name, node.args[position])
        extra, package = (values.get(name) for name in ("extra", "package"))
        if isinstance(extra, ast.Constant) and extra.value:
            yield (package.value if isinstance(package, ast.Constant) else ""), extra.value


def test_every_extra_that_a_message_names_installs_the_package() -> None:
    told = {
        found: path.relative_to(ROOT).as_posix()
        for path in (ROOT / "lightrag").rglob("*.py")
        for found in named_extras(ast.parse(path.read_text(encoding="utf-8")))
    }
    for (package, extra), path in told.items():
        assert extra in EXTRAS, f"{path} names the extra {extra!r}, which pyproject.toml does not have"
        if package:
            brought = CORE | EXTRAS[extra]
            assert distributions_of(package) & brought, f"{path}: the extra {extra!r} does not install {package!r}"


def test_the_rule_sees_extras() -> None:
    source = """
Backend("kv", "m", "redis")
Binding("m", "f", package="x", extra="y")
MissingDependencyError("a", "b", "c")
Backend("kv", "m")
"""
    assert list(named_extras(ast.parse(source))) == [("", "redis"), ("x", "y"), ("a", "b")]


def test_version_is_the_same_everywhere() -> None:
    assert lightrag.__version__ == PROJECT["version"]
