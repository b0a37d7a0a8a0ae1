"""How a document is to be parsed and cut: what callers say, and how it is stored beside the text.

It is stored as the published package stores it, so that either can process what the other has enqueued: letters in
``process_options``, the engine in ``parse_engine``, and in ``chunk_options`` the parameters of the strategies by their
names beside those that all strategies have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lightrag.chunker.registry import STRATEGIES
from lightrag.chunker.registry import chunk_options as checked_params
from lightrag.exceptions import InputError
from lightrag.parser.routing import CHUNKER_LETTERS, ENGINES, ProcessingOptions, Route, parse_options

_USUAL = "fixed_token"
_SIZES = ("chunk_token_size", "chunk_overlap_token_size")


@dataclass(frozen=True)
class ProcessOptions:
    """How one document is to be processed; ``None`` takes the engine's setting.

    Attributes:
        split_by_character: Cut at this text first.
        split_by_character_only: Cut nowhere else.
        chunking: ``{"strategy": ..., "params": {...}}``; without a strategy the parameters are for the usual one.
        engine: Parser of its file; ``""`` for the usual one.
        skip_graph: Chunks only, no entities and relations.
        vision: Letters that ask for what only a vision model can do.
    """

    split_by_character: str | None = None
    split_by_character_only: bool = False
    chunking: dict[str, Any] | None = None
    engine: str = ""
    skip_graph: bool = False
    vision: str = ""

    @classmethod
    def of_call(cls, letters: str = "", chunking: Mapping[str, Any] | None = None, engine: str = "") -> ProcessOptions:
        """Read what a caller says about a document.

        Args:
            letters: Such as ``F!``; see :func:`~lightrag.parser.routing.parse_options`.
            chunking: ``{"strategy": ..., "params": {...}}``, or parameters by name of strategy.
            engine: Parser of its file.

        Raises:
            InputError: A letter, engine, strategy or parameter is unknown, or two strategies are named.
        """
        if engine and engine not in ENGINES:
            raise InputError(f"parse_engine {engine!r} is unknown; allowed are {', '.join(ENGINES)}")
        return cls(engine=engine).with_letters(parse_options(letters), chunking)

    def with_letters(self, asked: ProcessingOptions, chunking: Mapping[str, Any] | None) -> ProcessOptions:
        """Return the options with what letters and parameters ask for.

        Raises:
            InputError: Strategy or parameters are unknown, or letters and parameters name two strategies.
        """
        return replace(
            self,
            chunking=_chunking(asked.chunking, chunking),
            skip_graph=asked.skip_graph,
            vision=asked.vision_letters,
        )

    def routed(self, route: Route) -> ProcessOptions:
        """Return the options that a file's route adds to; what the caller chose wins."""
        chunking = self.chunking
        if route.options.chunking is not None and (chunking is None or "strategy" not in chunking):
            chunking = {"strategy": route.options.chunking, **(chunking or {})}
        return replace(
            self,
            chunking=chunking,
            engine=route.engine,
            skip_graph=self.skip_graph or route.options.skip_graph,
            vision=self.vision or route.options.vision_letters,
        )

    @property
    def letters(self) -> str:
        """The options that have a letter."""
        strategy = (self.chunking or {}).get("strategy")
        return self.vision + ("!" if self.skip_graph else "") + (CHUNKER_LETTERS[strategy] if strategy else "")

    def to_row(self) -> dict[str, Any]:
        """Return the fields of the text store's row that are not usual."""
        chunking = self.chunking or {}
        strategy, params = chunking.get("strategy"), dict(chunking.get("params") or {})
        options: dict[str, Any] = {strategy: params} if strategy else params
        if self.split_by_character is not None or self.split_by_character_only:
            options[_USUAL] = {
                "split_by_character": self.split_by_character,
                "split_by_character_only": self.split_by_character_only,
            }
        fields = {"process_options": self.letters, "parse_engine": self.engine, "chunk_options": options}
        return {name: value for name, value in fields.items() if value}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ProcessOptions:
        """Read what :meth:`to_row` stored, or another program; what is not known here is passed over."""
        letters = row.get("process_options")
        known = "".join(dict.fromkeys(letter for letter in letters if _is_letter(letter))) if letters else ""
        asked = parse_options(_one_strategy(known))
        stored = row.get("chunk_options")
        stored = stored if isinstance(stored, Mapping) else {}
        split = stored.get(_USUAL) if asked.chunking is None else None
        split = split if isinstance(split, Mapping) else {}
        engine = str(row.get("parse_engine") or "")
        return cls(
            split_by_character=split.get("split_by_character"),
            split_by_character_only=bool(split.get("split_by_character_only", False)),
            chunking=_stored_chunking(asked.chunking, stored),
            engine=engine if engine in ENGINES else "",
            skip_graph=asked.skip_graph,
            vision=asked.vision_letters,
        )


def options_of_call(
    count: int,
    parse_engine: str | Sequence[str] | None = None,
    process_options: str | Sequence[str] | None = None,
    chunk_options: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
) -> list[ProcessOptions]:
    """Return the options of every document of a call.

    Args:
        count: Number of documents.
        parse_engine: Parser of all files, or one for each.
        process_options: Letters for all documents, or for each.
        chunk_options: Parameters for all documents, or for each.

    Raises:
        InputError: A list has not one entry for each document, or an option cannot be used.
    """
    engines = _for_each("parse_engine", parse_engine, count)
    letters = _for_each("process_options", process_options, count)
    chunkings = _for_each("chunk_options", chunk_options, count)
    return [
        ProcessOptions.of_call(one_letters or "", chunking, engine or "")
        for engine, one_letters, chunking in zip(engines, letters, chunkings, strict=True)
    ]


def _for_each(name: str, given: Any, count: int) -> list[Any]:
    if given is None or isinstance(given, str | Mapping):
        return [given] * count
    if not isinstance(given, Sequence):
        raise InputError(f"{name} is {given!r}; give one for all documents, or a list with one for each")
    values = list(given)
    if len(values) != count:
        raise InputError(f"{name} has {len(values)} entries for {count} documents; give one for each, or one for all")
    return values


def _chunking(strategy: str | None, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Bring both forms of chunk options to ``{"strategy": ..., "params": {...}}``."""
    if given is None:
        return None if strategy is None else {"strategy": strategy}
    if not isinstance(given, Mapping):
        raise InputError(f"chunk_options {given!r} must be an object, such as {{'chunk_token_size': 800}}")
    chosen = given.get("strategy") or strategy
    if "strategy" in given or "params" in given:
        unknown = sorted(set(given) - {"strategy", "params"})
        if unknown:
            raise InputError(f"chunk_options has the unknown field {unknown[0]!r}; allowed are strategy and params")
        if strategy is not None and chosen != strategy:
            raise InputError(
                f"process_options asks for {strategy!r} and chunk_options for {chosen!r}; name one of them"
            )
        params = dict(given.get("params") or {})
    else:
        of_all = {name: value for name, value in given.items() if name not in STRATEGIES}
        own = given.get(chosen or _USUAL) or {}
        # A size for all strategies is not meant for one that has none.
        fitting = STRATEGIES.get(chosen or _USUAL, frozenset())
        params = {**{n: v for n, v in of_all.items() if n in fitting or n not in _SIZES}, **own}
    checked_params(params, chosen or _USUAL)
    params = {name: value for name, value in params.items() if value is not None}
    return {**({"strategy": chosen} if chosen else {}), "params": params} if chosen or params else None


def _stored_chunking(strategy: str | None, stored: Mapping[str, Any]) -> dict[str, Any] | None:
    allowed = STRATEGIES[strategy or _USUAL]
    own = stored.get(strategy or _USUAL)
    merged = {**stored, **(own if isinstance(own, Mapping) else {})}
    params = {name: merged[name] for name in sorted(allowed) if merged.get(name) is not None}
    if strategy is None:
        # They stand in fields of their own.
        params = {name: value for name, value in params.items() if not name.startswith("split_by_character")}
        return {"params": params} if params else None
    return {"strategy": strategy, "params": params} if params else {"strategy": strategy}


def _is_letter(letter: str) -> bool:
    return letter in "ite!" or letter in CHUNKER_LETTERS.values()


def _one_strategy(letters: str) -> str:
    strategies = [letter for letter in letters if letter in CHUNKER_LETTERS.values()]
    return "".join(letter for letter in letters if letter not in strategies[1:])
