"""What is checked, read and told when an engine is made."""

from __future__ import annotations

import difflib
import logging
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightrag.exceptions import InputError

if TYPE_CHECKING:
    from lightrag.engine.fields import EngineFields
    from lightrag.settings import Settings

logger = logging.getLogger("lightrag.engine")

_ADDON_KEYS = ("language", "entity_types_guidance", "entity_type_prompt_file", "chunker")
_SIMILARITY_KEYS = ("enabled", "similarity_threshold", "use_llm_check")
# warn, check_fields, __post_init__, __init__: the caller of the constructor is the fourth from here.
_CALLER = 5


def check_fields(engine: EngineFields, settings: Settings) -> None:
    """Tell what will have no effect.

    Raises:
        InputError: A field cannot be used.
    """
    from lightrag.kg.registry import KINDS, check_storage
    from lightrag.kg.workspaces import check_workspace
    from lightrag.kg_scopes import normalize_scope_prefixes
    from lightrag.settings import unused_settings

    check_workspace(engine.workspace)
    for kind in KINDS:
        # The evidence store follows the document status store where none is chosen.
        if name := getattr(engine, f"{kind}_storage"):
            check_storage(name, kind)
    if engine.chunk_overlap_token_size >= engine.chunk_token_size:
        raise InputError(
            f"chunk_overlap_token_size={engine.chunk_overlap_token_size} must be smaller than "
            f"chunk_token_size={engine.chunk_token_size}"
        )
    if engine.max_pending_documents < 0:
        raise InputError(f"max_pending_documents={engine.max_pending_documents} must be 0 for no limit, or more")
    prefixes = normalize_scope_prefixes(settings.scope_tag_prefixes)
    if settings.enable_kg_scope_materialization and not prefixes:
        logger.warning("enable_kg_scope_materialization has no effect: scope_tag_prefixes names no prefix")
    warn_of_vision(engine.role_llm_configs or ())
    for name, description in unused_settings(settings).items():
        logger.warning("%s=%r: %s", name, getattr(settings, name), description)
    similar = engine.embedding_cache_config or {}
    _check_keys("embedding_cache_config", similar, _SIMILARITY_KEYS)
    if similar.get("enabled"):
        logger.warning("embedding_cache_config has no effect: answers are only found again by the very same question")
    if engine.log_level is not None:
        _deprecated("log_level", "set the level with logging.getLogger('lightrag').setLevel(...)")
    if engine.log_file_path is not None:
        _deprecated("log_file_path", "add a handler with logging.getLogger('lightrag').addHandler(...)")


def warn_of_vision(roles: Iterable[str]) -> None:
    """Tell that the model for pictures will not be asked."""
    if "vlm" in roles:
        logger.warning("the role 'vlm' has no effect: pictures are not analysed")


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"{name} is deprecated and has no effect: {instead}", DeprecationWarning, stacklevel=_CALLER)


def _check_keys(name: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Warn of keys that nobody reads."""
    for key in sorted(set(given) - set(known)):
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        logger.warning("%s[%r] is not read; known are %s%s", name, key, ", ".join(known), hint)


def addon_of(engine: EngineFields, settings: Settings) -> dict[str, Any]:
    """Return ``addon_params`` with the text of the file that tells which entities to look for.

    Raises:
        InputError: The file cannot be read, or holds no text.
    """
    addon = dict(engine.addon_params or {})
    _check_keys("addon_params", addon, _ADDON_KEYS)
    file = addon.get("entity_type_prompt_file") or settings.entity_type_prompt_file
    if file and not addon.get("entity_types_guidance"):
        addon["entity_types_guidance"] = prompt_file("entity_type_prompt_file", str(file), settings.prompt_dir)
    return addon


def prompt_file(name: str, file: str, folder: str) -> str:
    """Return the text of a prompt file.

    Args:
        name: Names the setting in messages.
        file: The file; without a folder it is looked for in ``folder``.
        folder: Folder of prompt files; ``""`` for the current one.

    Raises:
        InputError: It cannot be read, or holds no text.
    """
    path = Path(folder, file) if folder and not Path(file).is_absolute() else Path(file)
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except OSError as error:
        raise InputError(f"{name}: {str(path)!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: {str(path)!r} is not text in UTF-8") from error
    if not text:
        raise InputError(f"{name}: {str(path)!r} holds no text")
    return text
