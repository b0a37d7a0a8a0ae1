"""Access policies: what a key or a user may see and do, as the operator wrote it into a file.

    {
      "keys": {"a-key-of-their-own": {"required_tags": ["tenant:1"], "read_only": true, "routes": ["/query/*"]}},
      "users": {"ada": {"forbidden_tags": ["confidential"]}},
      "default": {"required_tags": ["public"]}
    }

A key may be written as ``sha256:`` and its digest in hex. ``default`` is for users without a policy of their own and
for callers on open paths; without it they are refused. The key of ``LIGHTRAG_API_KEY`` is the operator's: it has no
limits. ``folder`` keeps what somebody brings apart from the others' names: ``a.md`` becomes ``<folder>/a.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import Field, StrictBool

from lightrag.api.errors import ApiError
from lightrag.api.files import safe_path
from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.query_filters.strict_model import StrictModel, parse_model, read_json

_DIGEST_MARK = "sha256:"
_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
READING_POSTS = frozenset(
    {
        "/api/chat",
        "/api/generate",
        "/api/show",
        "/documents/paginated",
        "/graphs",
        "/login",
        "/query",
        "/query/data",
        "/query/preview",
        "/query/stream",
    }
)
"""Paths whose POST changes nothing."""


class _PolicyEntry(StrictModel):
    required_tags: list[str] = Field(default_factory=list)
    forbidden_tags: list[str] = Field(default_factory=list)
    folder: str = ""
    read_only: StrictBool = False
    routes: list[str] = Field(default_factory=lambda: ["/*"])


class _PolicyFile(StrictModel):
    keys: dict[str, _PolicyEntry] = Field(default_factory=dict)
    users: dict[str, _PolicyEntry] = Field(default_factory=dict)
    default: _PolicyEntry | None = None


@dataclass(frozen=True)
class Policy:
    """What somebody may see and do.

    Attributes:
        required_tags: Tags that a document must carry to exist for them.
        forbidden_tags: Tags that it must not carry.
        read_only: They may change nothing.
        routes: Paths that they may use; a last ``/*`` takes all below.
        folder: Holds the documents that they bring; ``""`` for the folder of all, where a name can be taken by a
            document that they must not know of.
    """

    required_tags: tuple[str, ...] = ()
    forbidden_tags: tuple[str, ...] = ()
    read_only: bool = False
    routes: tuple[str, ...] = ("/*",)
    folder: str = ""

    @property
    def limits_documents(self) -> bool:
        """Whether some documents do not exist for them."""
        return bool(self.required_tags or self.forbidden_tags)

    def check(self, method: str, path: str) -> None:
        """Refuse a request that is not theirs to make.

        Raises:
            ApiError: 403; the message says why.
        """
        if not matches_path(path, self.routes):
            raise ApiError(403, f"your access does not include {path}", "access_denied")
        if self.read_only and method not in _READING_METHODS and not (method == "POST" and path in READING_POSTS):
            raise ApiError(403, "your access is for reading only", "access_denied")


@dataclass(frozen=True)
class Policies:
    """The policies of a file.

    Attributes:
        keys: By SHA-256 digest of the key.
        users: By name.
        default: For everybody else.
    """

    keys: Mapping[bytes, Policy] = field(default_factory=dict, repr=False)
    users: Mapping[str, Policy] = field(default_factory=dict)
    default: Policy | None = None

    def of_user(self, name: str) -> Policy:
        """Return the policy of a user; of one who has none, a policy that includes nothing."""
        return self.users.get(name) or self.default or Policy(routes=())

    def all(self) -> list[Policy]:
        """Return every policy."""
        return [*self.keys.values(), *self.users.values(), *([self.default] if self.default else [])]


def matches_path(path: str, patterns: tuple[str, ...] | list[str]) -> bool:
    """Tell whether a path is one of some, or below one that ends with ``/*``."""
    for pattern in patterns:
        if pattern.endswith("/*"):
            if path == pattern[:-2] or path.startswith(pattern[:-1]):
                return True
        elif path == pattern:
            return True
    return False


def load_policies(file: str) -> Policies | None:
    """Read a file of policies.

    Args:
        file: JSON, or YAML when the name says so; ``""`` for none.

    Raises:
        InputError: It cannot be read or is not valid; the message holds no key.
    """
    if not file:
        return None
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InputError(f"access policies {file!r} cannot be read: {error}") from error
    given = _parse(file, text)
    if isinstance(given, Mapping) and isinstance(given.get("keys"), Mapping):
        # Keys are secrets, and a fault is told with its path.
        given = {**given, "keys": {_digest(str(key)).hex(): entry for key, entry in given["keys"].items()}}
    try:
        parsed = parse_model(_PolicyFile, given)
    except InputError as error:
        raise InputError(f"access policies {file!r}: {error}") from error
    return Policies(
        {bytes.fromhex(digest): _policy(entry) for digest, entry in parsed.keys.items()},
        {name: _policy(entry) for name, entry in parsed.users.items()},
        _policy(parsed.default) if parsed.default is not None else None,
    )


def _parse(file: str, text: str) -> Any:
    if Path(file).suffix.lower() in {".yaml", ".yml"}:
        try:
            import yaml  # type: ignore[import-untyped]
        except ModuleNotFoundError as error:
            raise MissingDependencyError("yaml", "api", f"Access policies {file!r} in YAML") from error
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise InputError(f"access policies {file!r} are no YAML") from error
    try:
        return read_json(text)
    except ValueError as error:
        raise InputError(f"access policies {file!r} are no JSON: {error}") from error


def _digest(key: str) -> bytes:
    if key.startswith(_DIGEST_MARK):
        written = key.removeprefix(_DIGEST_MARK)
        try:
            digest = bytes.fromhex(written)
        except ValueError:
            digest = b""
        if len(digest) != sha256().digest_size:
            raise InputError("access policies: a key that begins with 'sha256:' has 64 hex digits after it")
        return digest
    if not key:
        raise InputError("access policies: a key is empty")
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def _policy(entry: _PolicyEntry) -> Policy:
    limited = bool(entry.required_tags or entry.forbidden_tags)
    if entry.folder and not limited:
        raise InputError(f"access policies: folder {entry.folder!r} needs required_tags or forbidden_tags beside it")
    if entry.folder and safe_path(entry.folder) != entry.folder:
        raise InputError(f"access policies: folder {entry.folder!r} cannot be used; write one such as 'tenant-1'")
    return Policy(
        tuple(entry.required_tags), tuple(entry.forbidden_tags), entry.read_only, tuple(entry.routes), entry.folder
    )
