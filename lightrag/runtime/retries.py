"""When a failed model call is tried again, and after how long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightrag.runtime.model_errors import is_timeout, is_transient, retry_after_of
from lightrag.runtime.subjects import subject_logger

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, RetryCallState

logger = subject_logger("lightrag.models")


@dataclass(frozen=True)
class RetryPolicy:
    """How often a call is tried, and how long it waits in between.

    Attributes:
        max_attempts: Attempts in all; 1 never tries again.
        max_timeouts: Attempts that may run into their time limit; each costs all of it.
        first_wait: Seconds before the second attempt; doubled for each further one, with jitter.
        longest_wait: Most seconds between two attempts when the provider says nothing.
        longest_retry_after: Most seconds waited because the provider says so; a longer wish fails the call, since
            trying earlier would be refused again.
        transient: Tells whether an exception is worth another attempt.
    """

    max_attempts: int = 4
    max_timeouts: int = 2
    first_wait: float = 0.5
    longest_wait: float = 30.0
    longest_retry_after: float = 120.0
    transient: Callable[[BaseException], bool] = is_transient


NO_RETRIES = RetryPolicy(max_attempts=1)


def retrying(policy: RetryPolicy, sleep: Callable[[float], Awaitable[None]], name: str = "model call") -> AsyncRetrying:
    """Return what runs one call with its retries; the last exception is raised as it is.

    Args:
        policy: When to try again.
        sleep: Waits between two attempts.
        name: Names the call in the log.
    """
    from tenacity import AsyncRetrying, retry_if_exception, wait_exponential, wait_random

    back_off = wait_exponential(multiplier=policy.first_wait, max=policy.longest_wait)
    jitter = wait_random(0, policy.first_wait)
    timeouts = 0

    def worth_another(error: BaseException) -> bool:
        nonlocal timeouts
        if is_timeout(error):
            timeouts += 1
            if timeouts >= policy.max_timeouts:
                return False
        asked = retry_after_of(error)
        return policy.transient(error) and (asked is None or asked <= policy.longest_retry_after)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = retry_after_of(error) if error is not None else None
        return max(asked or 0.0, back_off(state) + jitter(state))

    def log(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait_seconds = state.next_action.sleep if state.next_action else 0.0
        logger.warning(
            "%s: attempt %d of %d failed, next in %.1f s: %s",
            name,
            state.attempt_number,
            policy.max_attempts,
            wait_seconds,
            error,
        )

    return AsyncRetrying(
        retry=retry_if_exception(worth_another),
        stop=lambda state: state.attempt_number >= policy.max_attempts,
        wait=wait,
        sleep=sleep,
        before_sleep=log,
        reraise=True,
    )
