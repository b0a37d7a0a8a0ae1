"""Every reason for which a test may be skipped stands in the README."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py"))
SKIPS = {"skip", "skipif", "importorskip"}
# Families of stores say there why they cannot run; tests skip with what they say.
SAID_BY_FAMILIES = {"family.unavailable", "chosen.unavailable"}


def texts(node: ast.AST) -> list[str]:
    found = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return [text for text in found if text]


def reason_of(call: ast.Call) -> ast.AST | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "reason"), None)
    if named is not None:
        return named
    is_skip = isinstance(call.func, ast.Attribute) and call.func.attr == "skip"
    return call.args[0] if is_skip and call.args else None


def reasons(path: str) -> Iterator[tuple[int, str]]:
    """The reasons of a file, each with its line; an empty one for a skip without."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in SKIPS and "pytest" in ast.unparse(node.func):
            reason = reason_of(node)
            if reason is not None and ast.unparse(reason) in SAID_BY_FAMILIES:
                continue
            for text in (texts(reason) if reason is not None else []) or [""]:
                yield node.lineno, text
        for keyword in node.keywords:
            if keyword.arg == "unavailable":
                condition = keyword.value.test if isinstance(keyword.value, ast.IfExp) else None
                for text in set(texts(keyword.value)) - set(texts(condition) if condition else []):
                    yield node.lineno, text


@pytest.mark.parametrize("path", [path for path in FILES if list(reasons(path))])
def test_every_reason_stands_in_the_readme(path: str) -> None:
    for line, reason in reasons(path):
        assert reason, f"{path}:{line} skips without a reason"
        assert f"| {reason} |" in README, f"{path}:{line}: {reason!r} is not in the README's table"


def test_the_readme_has_no_reason_that_nobody_gives() -> None:
    table = README.partition("| reason of a skip |")[2].partition("\n\n")[0].splitlines()[2:]
    listed = {line.split("|")[1].strip() for line in table}
    assert listed == {reason for path in FILES for _, reason in reasons(path)}
    assert listed
