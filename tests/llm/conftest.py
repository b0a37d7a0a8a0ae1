"""A stub server per test, and no client left open after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from lightrag.runtime.clients import close_idle_clients
from lightrag.settings_api import ProviderSettings, provider_file
from tests.llm.stub_server import StubServer, running_stub


@pytest.fixture
async def stub() -> AsyncIterator[StubServer]:
    async with running_stub() as server:
        yield server
        await close_idle_clients()


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """An environment without keys and addresses of providers; what the test sets is read afresh."""
    for field in ProviderSettings.model_fields:
        monkeypatch.delenv(field.upper(), raising=False)
    for name in (
        "OPENAI_BASE_URL",
        "GOOGLE_API_KEY",
        "AWS_DEFAULT_REGION",
        "AWS_ACCESS_KEY_ID",
        "ANTHROPIC_API_KEY",
        "AWS_PROFILE",
    ):
        monkeypatch.delenv(name, raising=False)
    provider_file.cache_clear()
    yield monkeypatch
    provider_file.cache_clear()
