"""Where a model is served, and the tables of bindings that can reach one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from lightrag.exceptions import InputError, MissingDependencyError


@dataclass(frozen=True)
class ModelEndpoint:
    """A model at a server.

    Attributes:
        model: Name that the server knows.
        base_url: Address of the server; ``None`` for the binding's own default.
        api_key: Key; ``None`` when none is needed or the binding's library finds it.
        timeout: Seconds that the server may take; ``None`` for the library's default.
        options: Sent with every request, such as ``temperature``.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """Names model and server, without the key: for cache keys and messages."""
        return f"{self.model}@{self.base_url}" if self.base_url else self.model


@dataclass(frozen=True)
class Binding:
    """Where the factory of a binding is found.

    Attributes:
        module: Module that defines it; imported when first used.
        factory: Name of the function in it.
        package: Package that it needs, by import name; ``""`` for none beyond the core install.
        extra: Extra of the distribution that installs the package.
    """

    module: str
    factory: str
    package: str = ""
    extra: str = ""


class BindingTable:
    """Bindings of one kind, by the names that settings use."""

    def __init__(self, kind: str, bindings: Mapping[str, Binding]) -> None:
        """Make a table.

        Args:
            kind: What the bindings are for, as in messages: ``"LLM"``.
            bindings: The bindings to start with.
        """
        self._kind = kind
        self._bindings = dict(bindings)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._bindings))

    def register(self, name: str, binding: Binding) -> None:
        """Add a binding, or replace the one of that name."""
        self._bindings[name] = binding

    def factory(self, name: str) -> Callable[..., Any]:
        """Import a binding and return its factory.

        Raises:
            InputError: There is no such binding.
            MissingDependencyError: Its package is not installed.
        """
        binding = self._bindings.get(name)
        if binding is None:
            raise InputError(f"{name!r} is not a binding for {self._kind}; choose one of {', '.join(self)}")
        _require(binding.package, binding.extra, f"{self._kind} binding {name!r}")
        found: Callable[..., Any] = getattr(import_module(binding.module), binding.factory)
        return found


def _require(package: str, extra: str, purpose: str) -> None:
    """Check that an optional package is installed, without importing it.

    Args:
        package: Import name; ``""`` checks nothing.
        extra: Extra of the distribution that installs it.
        purpose: What needs it, as the start of a sentence.

    Raises:
        MissingDependencyError: It is not installed.
    """
    from importlib.util import find_spec

    if package and find_spec(package) is None:
        raise MissingDependencyError(package, extra, purpose)
