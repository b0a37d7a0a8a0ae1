"""The engines of the flow tests."""

from tests.flow.conftest import make_engine

__all__ = ["make_engine"]
