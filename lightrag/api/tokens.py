"""Login tokens: signed, expiring, and renewed while they are in use."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

import jwt

from lightrag.settings_api import AccessSettings

Role = Literal["user", "guest"]
_DIGESTS = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}
_RENEWAL_PAUSE = 60.0
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class TokenClaims:
    """What a valid token says.

    Attributes:
        user: Whom it names.
        role: ``user`` after a login, ``guest`` on a server without accounts.
        expires: Epoch seconds.
        fingerprint: Of the password with which the user logged in; ``""`` for a guest.
    """

    user: str
    role: Role
    expires: float
    fingerprint: str = ""


class Tokens:
    """Makes and reads tokens. Without a configured secret they end with the process."""

    def __init__(self, settings: AccessSettings) -> None:
        """Take the settings of tokens.

        Args:
            settings: Secret, algorithm and lives.
        """
        secret = settings.token_secret or secrets.token_hex(32)
        # A key as long as the digest, however short the secret, which is what the algorithms ask for.
        self._key = _DIGESTS[settings.jwt_algorithm](b"lightrag token\0" + secret.encode()).digest()
        self._algorithm = settings.jwt_algorithm
        self._lives: dict[Role, float] = {
            "user": settings.token_expire_hours * 3600.0,
            "guest": settings.guest_token_expire_hours * 3600.0,
        }
        self._renew_below = settings.token_renew_threshold if settings.token_auto_renew else 0.0
        self._renewed: OrderedDict[str, float] = OrderedDict()

    def issue(self, user: str, role: Role, fingerprint: str = "") -> str:
        """Return a new token.

        Args:
            user: Whom it names.
            role: ``user`` after a login.
            fingerprint: Of the user's password; the token says it, so that it can end with the password.
        """
        now = time.time()
        claims = {
            "sub": user,
            "exp": int(now + self._lives[role]),
            "iat": int(now),
            "role": role,
            "metadata": {"auth_mode": "enabled" if role == "user" else "disabled"},
            **({"fingerprint": fingerprint} if fingerprint else {}),
        }
        return jwt.encode(claims, self._key, algorithm=self._algorithm)

    def read(self, token: str) -> TokenClaims | None:
        """Return what a token says; ``None`` when it is forged, malformed or expired."""
        try:
            claims = jwt.decode(token, self._key, algorithms=[self._algorithm], options={"require": ["exp", "sub"]})
        except (jwt.InvalidTokenError, UnicodeError):
            return None
        role: Role = "user" if claims.get("role") == "user" else "guest"
        return TokenClaims(str(claims["sub"]), role, float(claims["exp"]), str(claims.get("fingerprint", "")))

    def renewal(self, claims: TokenClaims) -> str | None:
        """Return a fresh token when the old one has lived long enough, at most once a minute for each user."""
        now = time.time()
        if claims.expires - now >= self._lives[claims.role] * self._renew_below:
            return None
        if now - self._renewed.get(claims.user, 0.0) < _RENEWAL_PAUSE:
            return None
        self._renewed[claims.user] = now
        self._renewed.move_to_end(claims.user)
        while len(self._renewed) > _MOST_REMEMBERED:
            self._renewed.popitem(last=False)
        return self.issue(claims.user, claims.role, claims.fingerprint)
