"""Which engine parses a file, and how: the hint in its name, then the rules of the operator, then the built-in one.

A hint is a piece of its own in front of the suffix: ``report.[docling-t!].pdf``. It names an engine, options, or both
(``[-F]`` has options only), and is no part of the name that is stored. Rules are written as ``pattern:engine-options``,
several separated by commas or semicolons, the pattern matching the suffix: ``pdf:docling-F, ppt*:mineru, *:legacy``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

from lightrag.exceptions import InputError
from lightrag.parser.registry import PARSERS, suffix_of
from lightrag.parser.result import BUILT_IN

_OFFICE = (".pdf", ".docx", ".pptx", ".xlsx")
_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
ENGINES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        BUILT_IN: frozenset(PARSERS),
        "native": frozenset({".docx", ".md"}),
        "docling": frozenset({*_OFFICE, *_PICTURES, ".md", ".html", ".htm", ".xhtml"}),
        "mineru": frozenset({*_OFFICE, *_PICTURES}),
    }
)
"""The engines and the suffixes that each may be asked for. ``native`` is another name of the built-in one."""

_CHUNKERS: Mapping[str, str] = MappingProxyType(
    {"F": "fixed_token", "R": "recursive_character", "V": "semantic_vector", "P": "paragraph_semantic", "C": "custom"}
)
CHUNKER_LETTERS: Mapping[str, str] = MappingProxyType({name: letter for letter, name in _CHUNKERS.items()})
"""The letter of every chunking strategy."""

_PARSING = MappingProxyType({"i": "images", "t": "tables", "e": "equations", "!": "skip_graph"})
_OPTION_LETTERS = "".join((*_PARSING, *_CHUNKERS))
# The stem, the bracketed piece, the suffix. The piece itself has no dot and no bracket.
_HINT = re.compile(r"^(?P<stem>.*[^/\\.])\.\[(?P<hint>[^\[\].]*)\](?P<suffix>\.[^.\[\]/\\]+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ProcessingOptions:
    """What the option letters of a hint or rule ask for.

    Attributes:
        images: ``i``: describe pictures. Needs a vision model, which this engine has not.
        tables: ``t``: describe tables. As pictures.
        equations: ``e``: describe equations. As pictures.
        skip_graph: ``!``: chunks only, no entities and relations.
        chunking: Strategy by its name: ``F`` fixed_token, ``R`` recursive_character, ``V`` semantic_vector,
            ``P`` paragraph_semantic, ``C`` custom (the engine's ``chunking_func``).
    """

    images: bool = False
    tables: bool = False
    equations: bool = False
    skip_graph: bool = False
    chunking: str | None = None

    @property
    def needs_vision(self) -> bool:
        """Whether something is asked for that only a vision model can do."""
        return bool(self.vision_letters)

    @property
    def vision_letters(self) -> str:
        """The letters that ask for it."""
        return "".join(letter for letter, name in _PARSING.items() if name != "skip_graph" and getattr(self, name))


@dataclass(frozen=True, slots=True)
class Route:
    """How a file is parsed.

    Attributes:
        name: Its name without the hint.
        engine: ``legacy``, ``docling`` or ``mineru``.
        options: What else was asked for.
    """

    name: str
    engine: str = BUILT_IN
    options: ProcessingOptions = ProcessingOptions()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the operator.

    Attributes:
        pattern: Matched against the suffix without its dot, in small letters; ``*`` and ``?`` stand for any letters.
        engine: Engine, ``""`` for the usual one.
        options: What else is asked for.
    """

    pattern: str
    engine: str
    options: ProcessingOptions


def split_hint(file_name: str) -> tuple[str, str, ProcessingOptions]:
    """Split the hint off a file name or path.

    Args:
        file_name: Such as ``reports/2024.[docling-F].pdf``.

    Returns:
        The name without the hint, the engine (``""`` if the hint names none or there is none), and the options.

    Raises:
        InputError: There is a hint that names no engine, or has unknown options.
    """
    found = _HINT.match(file_name)
    if found is None:
        return file_name, "", ProcessingOptions()
    try:
        engine, options = _parse(found["hint"])
    except InputError as error:
        raise InputError(f"file name {file_name!r} has a parser hint that cannot be used: {error}") from error
    return found["stem"] + found["suffix"], engine, options


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Read the rules of the setting ``LIGHTRAG_PARSER``.

    Args:
        text: Rules as described above; empty for none.

    Raises:
        InputError: A rule is malformed, or names something unknown.
    """
    rules: list[Rule] = []
    for part in re.split(r"[,;\n]", text):
        entry = part.strip()
        if not entry:
            continue
        pattern, colon, target = entry.partition(":")
        pattern = pattern.strip().lower().removeprefix("*.").removeprefix(".")
        if not colon or not pattern:
            raise InputError(f"parser rule {entry!r} must have the form 'suffix:engine-options', such as 'pdf:docling'")
        try:
            engine, options = _parse(target.strip())
        except InputError as error:
            raise InputError(f"parser rule {entry!r} cannot be used: {error}") from error
        rules.append(Rule(pattern, engine, options))
    return tuple(rules)


def _parse(text: str) -> tuple[str, ProcessingOptions]:
    """Read ``engine``, ``engine-options`` or ``-options``."""
    engine, _, letters = text.strip().partition("-")
    engine = engine.strip().lower()
    if engine and engine not in ENGINES:
        raise InputError(f"unknown engine {engine!r}; allowed are {', '.join(ENGINES)}")
    if not engine and not letters:
        raise InputError("it is empty")
    return engine, parse_options(letters.strip())


def parse_options(letters: str) -> ProcessingOptions:
    """Read option letters.

    Args:
        letters: Each at most once, with at most one chunking strategy.

    Raises:
        InputError: A letter is unknown or repeated, or there are two strategies.
    """
    flags: dict[str, bool] = {}
    chunking: str | None = None
    for letter in letters:
        if letter not in _OPTION_LETTERS:
            raise InputError(f"unknown option {letter!r}; allowed are {' '.join(_OPTION_LETTERS)}")
        if letters.count(letter) > 1:
            raise InputError(f"option {letter!r} is there twice")
        if letter in _CHUNKERS:
            if chunking is not None:
                raise InputError(f"options {letters!r} name two chunking strategies; allowed is one of F R V P C")
            chunking = _CHUNKERS[letter]
        else:
            flags[_PARSING[letter]] = True
    return ProcessingOptions(chunking=chunking, **flags)


def choose_route(
    file_name: str, rules: tuple[Rule, ...], configured: frozenset[str] = frozenset(), wanted: str = ""
) -> Route:
    """Choose how a file is parsed.

    The hint decides; what it leaves open is taken from the first rule that matches the suffix and whose engine reads
    it. Files that only one of the external engines reads, such as pictures, go to the first that is set up.

    Args:
        file_name: Name or path, perhaps with a hint.
        rules: Of the operator.
        configured: External engines whose endpoints are known: ``docling``, ``mineru``.
        wanted: Engine that the caller asks for; ``""`` for none. It wins over the hint.

    Raises:
        InputError: The hint cannot be used, or the engine is unknown, does not read such files or has no endpoint.
    """
    name, engine, options = split_hint(file_name)
    suffix = suffix_of(name)
    if wanted and wanted not in ENGINES:
        raise InputError(f"unknown engine {wanted!r}; allowed are {', '.join(ENGINES)}")
    by_hint = bool(engine)
    engine = wanted or engine
    for rule in rules:
        if fnmatchcase(suffix.removeprefix("."), rule.pattern) and suffix in ENGINES[rule.engine or BUILT_IN]:
            engine = engine or rule.engine
            options = options if options != ProcessingOptions() else rule.options
            break
    if not engine and suffix not in ENGINES[BUILT_IN]:
        engine = next((other for other in ENGINES if other in configured and suffix in ENGINES[other]), "")
    engine = engine or BUILT_IN
    if suffix not in ENGINES[engine]:
        raise InputError(
            f"engine {engine!r} does not parse {suffix or 'files without a suffix'!r}; it parses "
            f"{', '.join(sorted(ENGINES[engine]))}"
        )
    if engine == "native":
        engine = BUILT_IN
    if engine != BUILT_IN and engine not in configured:
        setting = "DOCLING_ENDPOINT" if engine == "docling" else "MINERU_LOCAL_ENDPOINT"
        asked = f"the hint in {file_name!r}" if by_hint else "a rule of LIGHTRAG_PARSER"
        asked = f"parse_engine {wanted!r}" if wanted else asked
        raise InputError(f"{asked} asks for the engine {engine!r}, which needs {setting} to be set")
    return Route(name, engine, options)


def engine_extensions(configured: frozenset[str] = frozenset()) -> dict[str, list[str]]:
    """Return the suffixes of every engine that can be used.

    Args:
        configured: External engines whose endpoints are known.
    """
    return {
        engine: sorted(suffixes)
        for engine, suffixes in ENGINES.items()
        if engine in (BUILT_IN, "native") or engine in configured
    }
