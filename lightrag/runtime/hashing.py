"""Content ids and cache-key hashes. MD5, because stored ids are; nothing here guards a secret."""

from __future__ import annotations

import hashlib

from lightrag.types import JsonScalar


def _md5_hex(text: str) -> str:
    # A lone surrogate would otherwise make a hash of unclean text fail instead of the check that reports it.
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def compute_mdhash_id(content: str, prefix: str = "") -> str:
    """Return ``prefix`` and the MD5 of ``content`` in hex, as in ``doc-…``, ``ent-…`` and ``rel-…``."""
    return prefix + _md5_hex(content)


def compute_args_hash(*args: JsonScalar) -> str:
    """Return one hash of several values that no other list of values shares.

    Each part is written with its length, so ``("1", "11")`` and ``("11", "1")`` differ; values that are not
    text are marked, so ``None``, ``"None"`` and ``""`` differ, and ``1`` and ``"1"`` too.

    Args:
        args: Text, numbers, booleans or ``None``. Give structures as canonical text.

    Raises:
        TypeError: A part is of another type, whose text form may not be stable.
    """
    parts = []
    for arg in args:
        if isinstance(arg, str):
            parts.append(f"{len(arg)}:{arg}")
        elif arg is None or isinstance(arg, (bool, int, float)):
            text = repr(arg)
            parts.append(f"{len(text)}={text}")
        else:
            raise TypeError(f"cannot hash {arg!r}: give text, a number, a boolean or None")
    return _md5_hex("".join(parts))
