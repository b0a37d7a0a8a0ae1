"""Who may use the server: key, logins, guests, open paths, renewal, the pause after failures."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest

from lightrag.api.accounts import Accounts, LoginLimiter, hash_password
from lightrag.api.app import create_app
from lightrag.api.auth import is_loopback
from lightrag.api.errors import ApiError
from lightrag.api.tokens import Tokens
from lightrag.exceptions import InputError
from lightrag.settings_api import load_api_settings
from tests.api.conftest import Serve, Server

KEY = "the-right-key"
SECRET = "a secret of enough length"
ACCOUNTS = ["ada:engine", "grace:{bcrypt}$2b$04$e9Xa3s0dB9q7HbQ5dbeYzOTgtLIiZ5HnRXaGwB3hy5hs6mEfq1LVi"]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def login(server: Server, user: str = "ada", password: str = "engine") -> Any:
    return await server.client.post("/login", data={"username": user, "password": password})


async def test_open_server_lets_everybody_in_even_with_a_stale_token(server: Server) -> None:
    assert (await server.client.get("/documents/status_counts")).status_code == 200
    assert (await server.client.get("/documents/status_counts", headers=bearer("stale"))).status_code == 200
    told = (await server.client.get("/auth-status")).json()
    assert told["auth_configured"] is False
    assert told["auth_mode"] == "disabled"
    assert told["token_type"] == "bearer"
    claims = jwt.decode(told["access_token"], options={"verify_signature": False})
    assert claims["role"] == "guest"
    assert claims["metadata"] == {"auth_mode": "disabled"}


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 403, "key_required"),
        ({"X-API-Key": "wrong"}, 403, "invalid_key"),
        ({"X-API-Key": KEY}, 200, None),
        ({"Authorization": f"Bearer {KEY}"}, 200, None),
        ({"X-API-Key": KEY, "Authorization": "Bearer stale"}, 200, None),
        ({"Authorization": "Bearer stale"}, 401, "invalid_token"),
        ({"X-API-Key": "kéy"}, 403, "invalid_key"),
    ],
)
async def test_key(serve: Serve, headers: dict[str, str], status: int, code: str | None) -> None:
    server = await serve(lightrag_api_key=KEY)
    raw = {name: value.encode("utf-8") for name, value in headers.items()}
    answer = await server.client.get("/documents/status_counts", headers=raw)
    assert answer.status_code == status
    if code:
        assert answer.json()["code"] == code


async def test_guest_token_is_no_way_around_a_key(serve: Serve) -> None:
    server = await serve(lightrag_api_key=KEY)
    token = (await server.client.get("/auth-status")).json()["access_token"]
    assert (await server.client.get("/documents/status_counts", headers=bearer(token))).status_code == 401


async def test_ollama_routes_are_closed_with_a_key_unless_opened(serve: Serve) -> None:
    server = await serve(lightrag_api_key=KEY)
    assert (await server.client.get("/api/tags")).status_code == 403
    assert (await server.client.get("/api/tags", headers=bearer(KEY))).status_code == 200
    assert (await server.client.get("/health")).status_code == 200


async def test_open_paths_can_be_set(serve: Serve) -> None:
    server = await serve(lightrag_api_key=KEY, whitelist_paths="/health,/api/*")
    assert (await server.client.get("/api/tags")).status_code == 200
    assert (await server.client.get("/apifoo")).status_code == 404
    assert (await server.client.get("/documents/status_counts")).status_code == 403
    assert (await server.client.get("/auth/verify")).status_code == 403


async def test_login_and_use_of_the_token(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET)
    refused = await server.client.get("/documents/status_counts")
    assert refused.status_code == 401
    assert refused.json() == {"detail": "No credentials provided. Please login.", "code": "login_required"}
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    answer = await login(server)
    assert answer.status_code == 200
    told = answer.json()
    assert told["auth_mode"] == "enabled"
    assert told["token_type"] == "bearer"
    claims = jwt.decode(told["access_token"], options={"verify_signature": False})
    assert claims["sub"] == "ada"
    assert claims["role"] == "user"
    assert 47.9 * 3600 < claims["exp"] - time.time() <= 48 * 3600
    good = await server.client.get("/auth/verify", headers=bearer(told["access_token"]))
    assert good.json() == {"status": "ok"}
    assert "X-New-Token" not in good.headers


async def test_key_works_beside_accounts(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET, lightrag_api_key=KEY)
    answer = await server.client.get("/auth/verify", headers={"X-API-Key": KEY, **bearer("stale")})
    assert answer.status_code == 200
    wrong = await server.client.get("/auth/verify", headers={"X-API-Key": "wrong"})
    assert (wrong.status_code, wrong.json()["detail"]) == (403, "Invalid API Key")


async def test_wrong_logins_lead_to_a_pause(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET, login_max_failed_attempts=2)
    for _ in range(2):
        answer = await login(server, password="wrong")
        assert (answer.status_code, answer.json()["detail"]) == (401, "Incorrect credentials")
    answer = await login(server)
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 300
    assert (await login(server, user="nobody", password="x")).status_code == 401


async def test_passwords_are_not_repeated_in_errors(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET)
    answer = await server.client.post("/login", data={"username": "ada", "password": "x" * 2000})
    assert answer.status_code == 422
    assert "xxx" not in answer.text


@pytest.mark.parametrize(
    "forged",
    [
        jwt.encode({"sub": "ada", "role": "user", "exp": 9_999_999_999}, "x" * 32, algorithm="HS256"),
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEiLCJleHAiOjk5OTk5OTk5OTl9.",
        "not.a.token",
        "",
    ],
)
async def test_forged_tokens_are_refused(serve: Serve, forged: str) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET)
    assert (await server.client.get("/auth/verify", headers=bearer(forged))).status_code == 401


async def test_token_of_a_removed_user_is_refused(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET)
    for fingerprint in ("", server.state.access.accounts.fingerprint("ada")):
        token = server.state.access.tokens.issue("left-last-year", "user", fingerprint)
        assert (await server.client.get("/auth/verify", headers=bearer(token))).status_code == 401


@pytest.mark.parametrize("user", ["ada", "grace"])
async def test_token_ends_with_the_password(serve: Serve, user: str) -> None:
    settings = {"auth_accounts": ACCOUNTS, "token_secret": SECRET}
    server = await serve(**settings)
    token = server.state.access.token_for(user)
    again = await serve(**settings)
    assert (await again.client.get("/auth/verify", headers=bearer(token))).status_code == 200
    passwords = {"ada": "engine", "grace": ACCOUNTS[1].partition(":")[2]}
    for new in ({user: "another"}, {user: hash_password("another")}):
        entries = [f"{name}:{password}" for name, password in (passwords | new).items()]
        changed = await serve(**settings | {"auth_accounts": entries})
        answer = await changed.client.get("/auth/verify", headers=bearer(token))
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
        assert "X-New-Token" not in answer.headers
    # Whoever takes over a name has a password of their own.
    others = await serve(**settings | {"auth_accounts": ["eve:engine"]})
    assert (await others.client.get("/auth/verify", headers=bearer(token))).status_code == 401


async def test_fingerprints_tell_neither_the_password_nor_who_shares_it() -> None:
    accounts = Accounts(["ada:engine", "bob:engine"], SECRET)
    told = {accounts.fingerprint("ada"), accounts.fingerprint("bob"), Accounts(["ada:engine"], "x").fingerprint("ada")}
    told |= {Accounts(["ada:engine"]).fingerprint("ada"), Accounts(["ada:engine"]).fingerprint("ada")}
    assert len(told) == 5
    assert accounts.fingerprint("nobody") == ""


async def test_old_token_without_a_fingerprint_is_refused(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET)
    token = server.state.access.tokens.issue("ada", "user")
    assert (await server.client.get("/auth/verify", headers=bearer(token))).status_code == 401


async def test_token_is_renewed_once_it_is_old(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET, token_expire_hours=1)
    fields = {"auth_accounts": ACCOUNTS, "token_secret": SECRET}
    known = server.state.access.accounts.fingerprint("ada")
    young = Tokens(load_api_settings(**fields, token_expire_hours=0.4)).issue("ada", "user", known)
    polled = await server.client.post("/documents/paginated", json={}, headers=bearer(young))
    assert polled.status_code == 200
    assert "X-New-Token" not in polled.headers
    # A stream is a response of its own kind, and must carry the token as well.
    answer = await server.client.post(
        "/query/stream", json={"query": "Who was Ada?", "mode": "bypass"}, headers=bearer(young)
    )
    fresh = answer.headers["X-New-Token"]
    assert jwt.decode(fresh, options={"verify_signature": False})["exp"] > time.time() + 3000
    assert (await server.client.get("/auth/verify", headers=bearer(fresh))).status_code == 200
    again = await server.client.get("/documents/status_counts", headers=bearer(young))
    assert "X-New-Token" not in again.headers


async def test_expired_token_is_refused(serve: Serve) -> None:
    server = await serve(auth_accounts=ACCOUNTS, token_secret=SECRET)
    expired = Tokens(load_api_settings(token_secret=SECRET, token_expire_hours=1e-9)).issue(
        "ada", "user", server.state.access.accounts.fingerprint("ada")
    )
    answer = await server.client.get("/auth/verify", headers=bearer(expired))
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")


async def test_passwords_in_the_clear_are_not_kept() -> None:
    accounts = Accounts(["ada:correct horse", "bob:correct horse"])
    assert await accounts.check("ada", "correct horse")
    assert not await accounts.check("ada", "wrong")
    assert not await accounts.check("eve", "correct horse")
    kept = repr(vars(accounts))
    assert "correct horse" not in kept
    assert len({repr(one) for one in accounts._passwords.values()}) == 2
    assert accounts.in_the_clear == ["ada", "bob"]


async def test_hashed_passwords() -> None:
    entry = hash_password("correct horse")
    accounts = Accounts([f"ada:{entry}"])
    assert await accounts.check("ada", "correct horse")
    assert not await accounts.check("ada", "wrong")
    assert not await accounts.check("ada", entry.removeprefix("{bcrypt}"))
    assert accounts.in_the_clear == []
    for bad in ("", "x" * 73):
        with pytest.raises(InputError, match="bytes"):
            hash_password(bad)


async def test_passwords_may_hold_colons_and_any_letter() -> None:
    accounts = Accounts(["ada:a:b", "zoë:pä😀"])
    assert await accounts.check("ada", "a:b")
    assert await accounts.check("zoë", "pä😀")
    assert not await accounts.check("zoë", "pa😀")
    assert not await accounts.check("nobody", "pä😀")


@pytest.mark.parametrize("entry", ["ada", "ada:", ":pw", "ada:{bcrypt}plain"])
def test_malformed_accounts_are_refused_without_their_password(entry: str) -> None:
    with pytest.raises(InputError) as caught:
        Accounts([entry])
    assert "plain" not in str(caught.value)
    assert "pw" not in str(caught.value)


def test_user_stands_once() -> None:
    with pytest.raises(InputError, match="more than once"):
        Accounts(["ada:x", "ada:y"])


def test_limiter_forgets_after_the_window() -> None:
    now = [100.0]
    limiter = LoginLimiter(2, 10.0, clock=lambda: now[0])
    limiter.failed("a", "ada")
    now[0] = 105.0
    limiter.failed("a", "ada")
    with pytest.raises(ApiError) as caught:
        limiter.check("a", "ada")
    assert caught.value.headers == {"Retry-After": "5"}
    limiter.check("b", "ada")
    now[0] = 110.5
    limiter.check("a", "ada")
    limiter.succeeded("a", "ada")
    limiter.failed("a", "ada")
    limiter.check("a", "ada")


def test_accounts_on_a_public_address_need_a_secret() -> None:
    fields = {"auth_accounts": ACCOUNTS, "host": "0.0.0.0"}
    with pytest.raises(InputError, match="TOKEN_SECRET"):
        create_app(load_api_settings(**fields, token_secret=""))
    with pytest.raises(InputError, match="TOKEN_SECRET"):
        create_app(load_api_settings(**fields, token_secret="short"))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_secrets_stay_out_of_reprs_and_errors() -> None:
    secret = "hunter2-hunter2-hunter2"
    settings = load_api_settings(
        lightrag_api_key=secret, token_secret=secret, auth_accounts=[f"a:{secret}"], llm_binding_api_key=secret
    )
    assert secret not in repr(settings)
    with pytest.raises(InputError) as caught:
        load_api_settings(token_secret=[secret])
    assert secret not in str(caught.value)
