"""What model calls cost: tokens as the provider tells them, else estimated; money where prices are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self

from lightrag.contracts.models import Tokenizer
from lightrag.runtime.tokens import count_tokens

# Counting every prompt would take a fifteenth of the time that ingestion takes beside the model. The first, second,
# fourth, eighth call and so on are counted, later one of this many, and the others are scaled from their length.
_COUNTED_EVERY = 256
_MILLION = 1_000_000


@dataclass(slots=True)
class CallUsage:
    """What a provider told about one call; attempts that were repeated add up.

    Attributes:
        prompt_tokens: Tokens sent; ``None`` when not told.
        completion_tokens: Tokens received; ``None`` when not told.
        cost: Price in the provider's currency; ``None`` when not told.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None

    def add(self, prompt_tokens: int | None, completion_tokens: int | None, cost: float | None) -> None:
        """Add what one attempt used."""
        if prompt_tokens is not None:
            self.prompt_tokens = (self.prompt_tokens or 0) + prompt_tokens
        if completion_tokens is not None:
            self.completion_tokens = (self.completion_tokens or 0) + completion_tokens
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost


_current: ContextVar[CallUsage | None] = ContextVar("lightrag_call_usage", default=None)


def report_usage(
    prompt_tokens: int | None = None, completion_tokens: int | None = None, cost: float | None = None
) -> None:
    """Tell the engine what the running model call used; for model functions, also those of users.

    Outside a call of an engine it does nothing.

    Args:
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens received.
        cost: Price, in any currency.
    """
    usage = _current.get()
    if usage is not None:
        usage.add(prompt_tokens, completion_tokens, cost)


class reported_to:
    """Lets :func:`report_usage` inside the block write to some usage.

    Not made by ``contextmanager``, which costs more than everything else that is noted about a call.
    """

    __slots__ = ("_token", "_usage")

    def __init__(self, usage: CallUsage) -> None:
        self._usage = usage

    def __enter__(self) -> None:
        self._token = _current.set(self._usage)

    def __exit__(self, *_error: object) -> None:
        _current.reset(self._token)


class TokenTracker:
    """Adds up the tokens of model functions that get it as ``token_tracker=``.

    Used with ``with``, it starts from nothing.
    """

    def __init__(self) -> None:
        self.reset()

    def __enter__(self) -> Self:
        self.reset()
        return self

    def __exit__(self, *_error: object) -> None:
        """Keep the sums."""

    def reset(self) -> None:
        """Start from nothing."""
        self._sums = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        self._calls = 0

    def add_usage(self, token_counts: Mapping[str, int]) -> None:
        """Add a call.

        Args:
            token_counts: ``prompt_tokens``, ``completion_tokens`` and, if it is not their sum, ``total_tokens``.
        """
        prompt = token_counts.get("prompt_tokens", 0)
        completion = token_counts.get("completion_tokens", 0)
        total = token_counts.get("total_tokens", prompt + completion)
        counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}
        self._sums = {name: self._sums[name] + counts[name] for name in counts}
        self._calls += 1

    def get_usage(self) -> dict[str, int]:
        """Return the sums, and the number of calls as ``call_count``."""
        return {**self._sums, "call_count": self._calls}


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens, in any currency; 0 when not known."""

    prompt: float = 0.0
    completion: float = 0.0

    @classmethod
    def of(cls, metadata: Mapping[str, Any], default: Prices) -> Prices:
        """Return the prices in the metadata of a role, else the default."""
        return cls(
            float(metadata.get("input_price") or default.prompt),
            float(metadata.get("output_price") or default.completion),
        )

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return what a call costs; ``None`` when no price is known."""
        if not self.prompt and not self.completion:
            return None
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / _MILLION


class TokenEstimate:
    """Tokens of texts: some are counted, the others scaled from their length by what those gave."""

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer
        self._calls = 0
        self._next = 1
        self._characters = 0
        self._tokens = 0

    def tokens(self, texts: Sequence[str]) -> int:
        """Return the tokens of some texts together."""
        characters = sum(map(len, texts))
        if not characters:
            return 0
        self._calls += 1
        if self._calls == self._next:
            self._next += min(self._next, _COUNTED_EVERY)
            tokens = sum(count_tokens(self._tokenizer, text) for text in texts)
            self._characters += characters
            self._tokens += tokens
            return tokens
        return round(characters * self._tokens / self._characters)


@dataclass(frozen=True)
class RoleUsage:
    """What a role has used since the engine was made.

    Attributes:
        calls: Calls that ended, failed and cancelled ones included; replies from the cache are no calls.
        failed: Calls that failed or were cancelled.
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens received.
        estimated_calls: Calls of which the provider did not tell the tokens.
        seconds: Time spent in calls, waiting for slots included.
        cost: Sum of the prices that are known; ``None`` when none is.
    """

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated_calls: int = 0
    seconds: float = 0.0
    cost: float | None = None


class UsageMeter:
    """Adds up what one role uses."""

    def __init__(self) -> None:
        self.prices = Prices()
        self._calls = 0
        self._failed = 0
        self._prompt = 0
        self._completion = 0
        self._estimated = 0
        self._seconds = 0.0
        self._cost: float | None = None

    def add(self, *, prompt_tokens: int, completion_tokens: int, seconds: float, failed: bool, estimated: bool) -> None:
        """Add a call that ended."""
        self._calls += 1
        self._failed += failed
        self._prompt += prompt_tokens
        self._completion += completion_tokens
        self._estimated += estimated
        self._seconds += seconds

    def add_cost(self, cost: float | None) -> None:
        """Add the price of a call, where it is known."""
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost

    def usage(self) -> RoleUsage:
        """Return the sums."""
        return RoleUsage(
            self._calls, self._failed, self._prompt, self._completion, self._estimated, self._seconds, self._cost
        )
