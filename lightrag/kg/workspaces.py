"""Names of workspaces: the same ones in every family, so that a corpus can move from one to another."""

from __future__ import annotations

from lightrag.exceptions import InputError
from lightrag.kg.texts import check_text

_MAX_BYTES = 200


def check_workspace(workspace: str) -> None:
    """Refuse a workspace that cannot be the name of a folder; ``""`` is the default one.

    Raises:
        InputError: It is no plain name.
    """
    if any(character in "/\\" or ord(character) < 32 for character in workspace) or workspace in (".", ".."):
        raise InputError(f"workspace {workspace!r} must be a plain name: no '/', '\\', '.', '..' or control characters")
    check_text(workspace, "workspace")
    if len(workspace.encode()) > _MAX_BYTES:
        raise InputError(f"workspace {workspace[:40]!r}... is longer than {_MAX_BYTES} bytes")
