"""The tree of errors."""

import inspect
import re

import pytest

from lightrag import exceptions
from lightrag.exceptions import InputError, LightRAGError, MissingDependencyError

# Further names of a class, which existing code catches, are no further classes.
CLASSES = {
    name: kind
    for name, kind in vars(exceptions).items()
    if inspect.isclass(kind) and issubclass(kind, Exception) and kind.__name__ == name
}


def test_the_tree_in_the_docstring_is_the_tree_of_classes() -> None:
    drawn: dict[str, str] = {}
    ancestors: list[str] = []
    for line in (exceptions.__doc__ or "").splitlines():
        found = re.match(r"    ((?:[|] {3}| {4})*(?:[|`]-- )?)(\w+Error)\b", line)
        if found:
            depth = len(found[1]) // 4
            ancestors[depth:] = [found[2]]
            drawn[found[2]] = ancestors[depth - 1] if depth else "Exception"
    assert drawn == {name: kind.__mro__[1].__name__ for name, kind in CLASSES.items()}


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_says_when_it_is_raised(name: str) -> None:
    assert issubclass(CLASSES[name], LightRAGError)
    assert len(CLASSES[name].__doc__ or "") > 40


def test_input_errors_are_value_errors() -> None:
    assert issubclass(InputError, ValueError)
    for name in ("FilterSyntaxError", "ScopeError", "QueryValidationError"):
        assert issubclass(CLASSES[name], InputError)


def test_a_missing_package_names_the_extra() -> None:
    error = MissingDependencyError("qdrant_client", "qdrant", "Storage 'QdrantVectorDBStorage'")
    assert isinstance(error, ImportError)
    assert (error.package, error.extra) == ("qdrant_client", "qdrant")
    assert "'qdrant_client'" in str(error)
    assert "pip install 'lightrag-hku[qdrant]'" in str(error)
