"""Who may use the server: API key, login token, open paths.

    request  ->  path is open? -> nothing configured? -> right key? -> valid token? -> refused, and told why

One valid credential is enough: a stale token beside the right key does no harm. The key may also come as a bearer
token, because clients of Ollama can send nothing else.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from fastapi import Request

from lightrag.api.accounts import Accounts, LoginLimiter
from lightrag.api.errors import ApiError
from lightrag.api.middleware import route_path
from lightrag.api.policies import Policy, load_policies, matches_path
from lightrag.api.tokens import TokenClaims, Tokens
from lightrag.exceptions import InputError
from lightrag.settings_api import ApiSettings

logger = logging.getLogger("lightrag.api")

LEAST_SECRET_CHARACTERS = 16
# Pages poll these; a renewal there would keep an abandoned page logged in for ever.
POLLED_PATHS = frozenset({"/health", "/documents/paginated", "/documents/pipeline_status"})
# They tell nothing of documents.
_HARMLESS_PATHS = frozenset({"/health", "/auth-status", "/login"})
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True)
class Caller:
    """Who sent a request.

    Attributes:
        kind: How it was allowed: an open server or path, the API key, a login.
        name: The user's name; ``""`` without a login.
        policy: What they may see and do; ``None`` for everything.
    """

    kind: Literal["open", "key", "user"]
    name: str = ""
    policy: Policy | None = None


class Access:
    """Decides about requests."""

    def __init__(self, settings: ApiSettings) -> None:
        """Take the settings.

        Args:
            settings: Key, accounts, tokens and open paths.

        Raises:
            InputError: Accounts or access policies are malformed.
        """
        self.accounts = Accounts(settings.auth_accounts, settings.token_secret)
        self.tokens = Tokens(settings)
        self.limiter = LoginLimiter(settings.login_max_failed_attempts, settings.login_lockout_window_seconds)
        self._key = sha256(settings.lightrag_api_key.encode()).digest() if settings.lightrag_api_key else None
        self._open_paths = settings.whitelist_paths
        self.policies = load_policies(settings.access_policies)

    @property
    def is_open(self) -> bool:
        """Whether no credential is configured, so that nobody can show one."""
        return not self.accounts and self._key is None and not (self.policies and self.policies.keys)

    @property
    def mode(self) -> Literal["enabled", "disabled"]:
        """Whether one must log in, as clients know it."""
        return "enabled" if self.accounts else "disabled"

    def decide(self, request: Request, *, heed_open_paths: bool = True) -> Caller:
        """Return who sends a request.

        Args:
            request: The request.
            heed_open_paths: Let open paths pass without credential.

        Raises:
            ApiError: 401 or 403; the message says what is missing or wrong.
        """
        path = route_path(request.scope)
        caller = self.identify(request)
        if caller is None and (self.is_open or (heed_open_paths and matches_path(path, self._open_paths))):
            caller = self._stranger(path)
        if caller is None:
            raise self._refusal(request)
        if caller.policy is not None:
            caller.policy.check(request.method, path)
        return caller

    def _stranger(self, path: str) -> Caller | None:
        """Return who has no credential where none is asked for; with policies that is nobody but for the default."""
        if self.policies is None or path in _HARMLESS_PATHS:
            return Caller("open")
        return Caller("open", policy=self.policies.default) if self.policies.default is not None else None

    def identify(self, request: Request) -> Caller | None:
        """Return who sends a request, by its credentials alone; ``None`` without a valid one."""
        bearer = _bearer(request)
        for given in (request.headers.get("x-api-key", ""), bearer):
            if self._is_key(given):
                return Caller("key")
            policy = self._policy_of_key(given)
            if policy is not None:
                return Caller("key", policy=policy)
        claims = self.tokens.read(bearer) if bearer else None
        # A guest's token comes from the time before accounts or a key were configured.
        if claims is None or claims.role != "user" or not self._is_account(claims):
            return None
        if route_path(request.scope) not in POLLED_PATHS:
            # Asked twice about one request, there is a fresh token the first time only.
            fresh = self.tokens.renewal(claims)
            if fresh is not None:
                request.state.new_token = fresh
        return Caller("user", claims.user, self.policies.of_user(claims.user) if self.policies else None)

    def _refusal(self, request: Request) -> ApiError:
        if request.headers.get("x-api-key"):
            return ApiError(403, "Invalid API Key", "invalid_key")
        if _bearer(request):
            return ApiError(401, "Invalid token. Please login again.", "invalid_token", _CHALLENGE)
        if self.accounts:
            return ApiError(401, "No credentials provided. Please login.", "login_required", _CHALLENGE)
        return ApiError(403, "API Key required", "key_required")

    def token_for(self, user: str) -> str:
        """Return a token for a user who has shown the password."""
        return self.tokens.issue(user, "user", self.accounts.fingerprint(user))

    def _is_account(self, claims: TokenClaims) -> bool:
        """Tell whether the account of a token is there, and has the password that it had then."""
        known = self.accounts.fingerprint(claims.user)
        return bool(known) and hmac.compare_digest(known.encode(), claims.fingerprint.encode("utf-8", "replace"))

    def _is_key(self, given: str) -> bool:
        if self._key is None or not given:
            return False
        return hmac.compare_digest(self._key, sha256(given.encode("utf-8", "surrogatepass")).digest())

    def _policy_of_key(self, given: str) -> Policy | None:
        if self.policies is None or not given:
            return None
        return self.policies.keys.get(sha256(given.encode("utf-8", "surrogatepass")).digest())


def _bearer(request: Request) -> str:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def check_safety(settings: ApiSettings, access: Access) -> None:
    """Refuse to start where the settings promise protection and give none; warn where they give little.

    Raises:
        InputError: Accounts on a public address without a usable secret.
    """
    public = not is_loopback(settings.host)
    if access.policies is not None and access.is_open and access.policies.default is None:
        raise InputError(
            "LIGHTRAG_ACCESS_POLICIES is set, but there is neither a key nor an account nor a default policy: "
            "nobody could use the server"
        )
    if access.accounts and len(settings.token_secret) < LEAST_SECRET_CHARACTERS:
        if public:
            raise InputError(
                f"AUTH_ACCOUNTS is set and the server listens on {settings.host!r}, but TOKEN_SECRET has "
                f"{len(settings.token_secret)} characters; set one of at least {LEAST_SECRET_CHARACTERS}, "
                "or listen on 127.0.0.1"
            )
        logger.warning("TOKEN_SECRET is short or missing: tokens can be guessed, or end when the server ends")
    if access.accounts.in_the_clear:
        logger.warning(
            "the passwords of %s stand in the settings in the clear; lightrag-server --hash-password makes hashes",
            ", ".join(map(repr, access.accounts.in_the_clear)),
        )
    if public and access.is_open:
        logger.warning(
            "the server listens on %s without LIGHTRAG_API_KEY or AUTH_ACCOUNTS: whoever reaches it may read, "
            "change and delete everything",
            settings.host,
        )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
