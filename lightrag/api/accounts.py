"""Accounts, their passwords, and the pause after failed logins."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lightrag.api.errors import ApiError
from lightrag.exceptions import InputError

BCRYPT_MARK = "{bcrypt}"
# bcrypt reads no further; older libraries cut silently, and their hashes must still be accepted.
BCRYPT_BYTES = 72
_MOST_REMEMBERED = 10_000
# 16 MiB and about 50 ms for each look, which is what guessing costs too.
_SCRYPT = {"n": 2**14, "r": 8, "p": 1, "dklen": 32}


@dataclass(frozen=True)
class _Digest:
    """What is kept of a password that the settings hold in the clear."""

    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, password: str, salt: bytes) -> _Digest:
        return cls(salt, _scrypt(password, salt))


def _bytes(text: str) -> bytes:
    # Also of a text that is no UTF-8, as an environment may hold it.
    return text.encode("utf-8", "surrogatepass")


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(_bytes(password), salt=salt, **_SCRYPT)


def hash_password(password: str) -> str:
    """Return a password as it may stand in ``AUTH_ACCOUNTS``: ``{bcrypt}`` and its hash.

    Raises:
        InputError: It is empty, or longer than bcrypt reads.
    """
    import bcrypt

    raw = password.encode()
    if not raw or len(raw) > BCRYPT_BYTES:
        raise InputError(f"a password has 1 to {BCRYPT_BYTES} bytes in UTF-8; this one has {len(raw)}")
    return BCRYPT_MARK + bcrypt.hashpw(raw, bcrypt.gensalt()).decode()


class Accounts:
    """Who may log in. Of passwords written in the clear only salted scrypt digests are kept."""

    def __init__(self, entries: Iterable[str], secret: str = "") -> None:
        """Read ``AUTH_ACCOUNTS``.

        Args:
            entries: ``user:password`` or ``user:{bcrypt}hash``, one per account.
            secret: ``TOKEN_SECRET``; with it fingerprints are the same after a restart, without it they end with the
                process, as tokens do.

        Raises:
            InputError: An entry is malformed, or a user stands twice. The message never holds a password.
        """
        self._key = hashlib.sha256(b"lightrag accounts\0" + (_bytes(secret) or secrets.token_bytes(32))).digest()
        self._passwords: dict[str, str | _Digest] = {}
        for position, entry in enumerate(entries, start=1):
            user, separator, password = entry.partition(":")
            user = user.strip()
            if not separator or not user or not password:
                raise InputError(f"entry {position} of AUTH_ACCOUNTS is not of the form user:password")
            if user in self._passwords:
                raise InputError(f"AUTH_ACCOUNTS names the user {user!r} more than once")
            if password.startswith(BCRYPT_MARK) and not password.startswith(f"{BCRYPT_MARK}$2"):
                raise InputError(f"the hash of the user {user!r} in AUTH_ACCOUNTS is not one of bcrypt")
            if password.startswith(BCRYPT_MARK):
                self._passwords[user] = password
            else:
                self._passwords[user] = _Digest.of(password, self._keyed(b"salt", _bytes(user))[:16])

    def __bool__(self) -> bool:
        return bool(self._passwords)

    def __contains__(self, user: str) -> bool:
        return user in self._passwords

    @property
    def in_the_clear(self) -> list[str]:
        """Users whose password is not hashed in the settings."""
        return sorted(user for user, known in self._passwords.items() if isinstance(known, _Digest))

    def fingerprint(self, user: str) -> str:
        """Return a text that is another one as soon as the password of a user is; ``""`` for an unknown user.

        It stands in tokens, which anybody who has one can read: the key, and the work of the digest, keep passwords
        from being guessed by it.
        """
        known = self._passwords.get(user)
        if known is None:
            return ""
        kept = known.digest if isinstance(known, _Digest) else _bytes(known)
        return self._keyed(b"password", _bytes(user), kept).hex()[:32]

    def _keyed(self, *parts: bytes) -> bytes:
        # With their lengths, or a name and what follows it could be cut in two ways.
        message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return hmac.digest(self._key, message, "sha256")

    async def check(self, user: str, password: str) -> bool:
        """Tell whether user and password belong together; takes as long for users that do not exist."""
        known = self._passwords.get(user)
        if known is None:
            known = next(iter(self._passwords.values()), _Digest(b"", b""))
            await asyncio.to_thread(_matches, known, password)
            return False
        return await asyncio.to_thread(_matches, known, password)


def _matches(known: str | _Digest, password: str) -> bool:
    if isinstance(known, _Digest):
        return hmac.compare_digest(known.digest, _scrypt(password, known.salt))
    import bcrypt

    raw = _bytes(password)
    try:
        return bcrypt.checkpw(raw[:BCRYPT_BYTES], known.removeprefix(BCRYPT_MARK).encode())
    except ValueError:
        return False


class LoginLimiter:
    """After some failed logins of a user from an address, both wait."""

    def __init__(self, attempts: int, window: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Set the limits.

        Args:
            attempts: Failures that are allowed.
            window: Seconds after which a failure is forgotten.
            clock: Seconds from any beginning.
        """
        self._attempts = attempts
        self._window = window
        self._clock = clock
        self._failures: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def check(self, address: str, user: str) -> None:
        """Refuse a login that comes too early.

        Raises:
            ApiError: Too many failures (429); ``Retry-After`` says when to come again.
        """
        recent = self._recent((address, user))
        if len(recent) >= self._attempts:
            wait = max(1, int(recent[0] + self._window - self._clock() + 0.999))
            raise ApiError(
                429,
                f"too many failed logins; try again in {wait} seconds",
                "too_many_logins",
                {"Retry-After": str(wait)},
            )

    def failed(self, address: str, user: str) -> None:
        """Note a failure."""
        key = (address, user)
        recent = self._recent(key)
        recent.append(self._clock())
        self._failures[key] = recent
        self._failures.move_to_end(key)
        while len(self._failures) > _MOST_REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, address: str, user: str) -> None:
        """Forget the failures of a user who knows the password after all."""
        self._failures.pop((address, user), None)

    def _recent(self, key: tuple[str, str]) -> deque[float]:
        recent = self._failures.get(key, deque())
        while recent and recent[0] <= self._clock() - self._window:
            recent.popleft()
        return recent
