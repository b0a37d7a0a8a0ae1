"""Files, functions and signatures stay small enough to be read at once."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6

FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "lightrag").rglob("*.py"))

COMPATIBLE = "a signature that users of the published package have in their code"
MORE_PARAMETERS: dict[str, str] = {
    "lightrag/query/modes.py::run_query": "the one entry point of all queries; all but three are keywords",
    "lightrag/engine/documents.py::DocumentMethods.ainsert": COMPATIBLE,
    "lightrag/engine/documents.py::DocumentMethods.apipeline_enqueue_documents": COMPATIBLE,
    "lightrag/engine/models.py::ModelMethods.update_llm_role_config": COMPATIBLE,
    "lightrag/contracts/doc_status.py::BaseDocStatusStorage.get_docs_paginated": COMPATIBLE,
}
"""Functions with more than ``MAX_PARAMETERS`` parameters, each with the reason."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        else:
            yield from functions(node, prefix)


def lines_of(node: Function) -> int:
    """Lines from ``def`` to the end, docstring included."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def parameters(node: Function, *, of_class: bool) -> int:
    names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return len(names) - (1 if of_class and names and names[0].arg in ("self", "cls") else 0)


def parse(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), filename=path)


def all_functions() -> dict[str, Function]:
    return {f"{path}::{name}": node for path in FILES for name, node in functions(parse(path))}


@pytest.mark.parametrize("path", FILES)
def test_file_is_short(path: str) -> None:
    lines = len((ROOT / path).read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_FILE_LINES, f"{path} has {lines} lines; allowed are {MAX_FILE_LINES}"


@pytest.mark.parametrize("path", FILES)
def test_functions_are_short(path: str) -> None:
    long = {name: lines_of(node) for name, node in functions(parse(path)) if lines_of(node) > MAX_FUNCTION_LINES}
    assert not long, f"{path}: more than {MAX_FUNCTION_LINES} lines: {long}"


@pytest.mark.parametrize("path", FILES)
def test_signatures_are_short(path: str) -> None:
    long = {
        name: count
        for name, node in functions(parse(path))
        if (count := parameters(node, of_class="." in name)) > MAX_PARAMETERS
        and f"{path}::{name}" not in MORE_PARAMETERS
    }
    assert not long, f"{path}: more than {MAX_PARAMETERS} parameters, take an options object: {long}"


@pytest.mark.parametrize("name", sorted(MORE_PARAMETERS))
def test_exception_is_still_needed(name: str) -> None:
    node = all_functions().get(name)
    assert node is not None, f"{name} does not exist any more: strike it off the list"
    assert parameters(node, of_class=True) > MAX_PARAMETERS, f"{name} is short enough: strike it off the list"


def test_the_rules_see_what_they_count() -> None:
    source = "class A:\n  async def f(self, a, b, *, c):\n    '''One\n    two.'''\n    x = 1\n    return x\n"
    ((name, node),) = functions(ast.parse(source))
    assert (name, lines_of(node), parameters(node, of_class=True)) == ("A.f", 5, 3)
