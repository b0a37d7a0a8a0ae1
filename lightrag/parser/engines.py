"""All engines of a workspace behind one door: the built-in one, and the external services that have an endpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lightrag.exceptions import InputError
from lightrag.parser.limits import ParseLimits
from lightrag.parser.pool import ParserPool
from lightrag.parser.registry import suffix_of
from lightrag.parser.result import BUILT_IN, ParsedText
from lightrag.parser.routing import Route, Rule, choose_route, engine_extensions, parse_rules
from lightrag.parser.service import ServiceOptions
from lightrag.runtime.calls import BoundedCalls
from lightrag.runtime.retries import RetryPolicy

if TYPE_CHECKING:
    from lightrag.settings import ParserSettings

ServiceParser = Callable[[str, bytes | Path], Awaitable[ParsedText]]

# A service that was just restarting is asked once more; a file that took too long is not.
_RETRY = RetryPolicy(max_attempts=2, max_timeouts=1)


class ParserEngines:
    """Parses files by the engine that their names and the operator's rules choose.

    Not bound to an event loop; owns processes, so it must be closed.
    """

    def __init__(
        self,
        pool: ParserPool | None = None,
        rules: tuple[Rule, ...] = (),
        services: Mapping[str, tuple[ServiceParser, int]] | None = None,
    ) -> None:
        """Put engines together.

        Args:
            pool: The built-in engine; ``None`` for one with default limits.
            rules: Of the operator.
            services: External engines by name, each with the number of files that it may have at a time.
        """
        self._pool = pool or ParserPool()
        self._rules = rules
        self._services = {
            name: BoundedCalls(parse, most, name=name, retry=_RETRY) for name, (parse, most) in (services or {}).items()
        }

    @classmethod
    def from_settings(cls, settings: ParserSettings) -> ParserEngines:
        """Make the engines that the settings describe; nothing is started or connected yet.

        Raises:
            InputError: A rule, limit or endpoint cannot be used.
        """
        limits = ParseLimits(
            seconds=settings.parser_timeout,
            memory_mebibytes=settings.parser_memory_limit,
            workers=settings.max_parallel_parse_native,
        )
        password = settings.pdf_decrypt_password
        services: dict[str, tuple[ServiceParser, int]] = {}
        if settings.docling_endpoint:
            options = ServiceOptions(settings.docling_endpoint, settings.docling_api_key, settings.docling_timeout)
            services["docling"] = _docling(options), settings.max_parallel_parse_docling
        if settings.mineru_local_endpoint:
            options = ServiceOptions(settings.mineru_local_endpoint, settings.mineru_api_token, settings.mineru_timeout)
            services["mineru"] = _mineru(options, settings.mineru_api_mode), settings.max_parallel_parse_mineru
        pool = ParserPool(limits, (password,) if password else ())
        return cls(pool, parse_rules(settings.parser_rules), services)

    @property
    def configured(self) -> frozenset[str]:
        """The external engines that can be used."""
        return frozenset(self._services)

    def extensions(self) -> dict[str, list[str]]:
        """Return the suffixes that each usable engine parses."""
        return engine_extensions(self.configured)

    def supported_extensions(self) -> list[str]:
        """Return the suffixes that some usable engine parses, sorted."""
        return sorted({suffix for suffixes in self.extensions().values() for suffix in suffixes})

    def reads(self, file_name: str) -> bool:
        """Tell whether some usable engine parses files of that name."""
        return suffix_of(file_name) in self.supported_extensions()

    def route(self, file_name: str, wanted: str = "") -> Route:
        """Choose engine and options for a file name or path; its hint is taken off.

        Args:
            file_name: Name or path, perhaps with a hint.
            wanted: Engine that the caller asks for; ``""`` for none.

        Raises:
            InputError: The hint cannot be used, or no engine parses such files.
        """
        return choose_route(file_name, self._rules, self.configured, wanted)

    async def parse(self, source: str, content: bytes | Path, engine: str = BUILT_IN) -> ParsedText:
        """Parse a file.

        Args:
            source: Its path as users know it, without a hint.
            content: Its bytes, or where they are.
            engine: Engine of its route.

        Raises:
            InputError: The file cannot be parsed; the message says why. Or the engine is unknown.
            MissingDependencyError: It needs an extra that is not installed.
            ModelError: An external service failed, or took too long.
            PipelineCancelledError: The engines were closed meanwhile.
        """
        if engine == BUILT_IN:
            return await self._pool.parse(source, content)
        service = self._services.get(engine)
        if service is None:
            allowed = ", ".join([BUILT_IN, *sorted(self._services)])
            raise InputError(f"engine {engine!r} for {source!r} is not set up; usable are {allowed}")
        parsed = await service(source, content)
        assert isinstance(parsed, ParsedText)
        return parsed

    async def close(self) -> None:
        """End all processes and calls; files being parsed are given up. May be called twice."""
        for service in self._services.values():
            await service.shutdown()
        await self._pool.close()


def _docling(options: ServiceOptions) -> ServiceParser:
    async def parse(source: str, content: bytes | Path) -> ParsedText:
        from lightrag.parser.docling import parse_with_docling

        return await parse_with_docling(source, content, options)

    return parse


def _mineru(options: ServiceOptions, mode: str) -> ServiceParser:
    async def parse(source: str, content: bytes | Path) -> ParsedText:
        from lightrag.parser.mineru import parse_with_mineru, parse_with_mineru_jobs

        parse_file = parse_with_mineru_jobs if mode == "v1" else parse_with_mineru
        return await parse_file(source, content, options)

    return parse
