"""All engines behind one door, made from settings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lightrag.exceptions import InputError
from lightrag.parser.engines import ParserEngines
from lightrag.parser.result import ParsedText
from lightrag.settings import Settings
from tests.parser import corpus
from tests.parser.stub_service import Answer, running_service


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


async def test_from_settings_to_text_by_every_engine(tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_bytes(corpus.pdf())
    with running_service() as docling, running_service() as mineru:
        docling.answers(
            {
                "POST /v1/convert/file/async": Answer({"task_id": "t"}),
                "GET /v1/status/poll/t": Answer({"task_status": "success"}),
                "GET /v1/result/t": Answer({"status": "success", "document": {"md_content": "by docling"}}),
            }
        )
        mineru.answers({"POST /file_parse": Answer({"results": {"a": {"md_content": "by mineru"}}})})
        engines = ParserEngines.from_settings(
            settings(
                parser_rules="pdf:docling-P",
                docling_endpoint=docling.url,
                mineru_local_endpoint=mineru.url,
                max_parallel_parse_native=1,
            )
        )
        try:
            assert engines.configured == {"docling", "mineru"}
            assert ".png" in engines.extensions()["mineru"]
            route = engines.route("a.pdf")
            assert (route.engine, route.options.chunking) == ("docling", "paragraph_semantic")
            assert await engines.parse(route.name, path, route.engine) == ParsedText("by docling", (), "docling")
            route = engines.route("a.[mineru].pdf")
            assert route.name == "a.pdf"
            assert (await engines.parse(route.name, path, route.engine)).text == "by mineru"
            route = engines.route("a.[legacy].pdf")
            built_in = await engines.parse(route.name, path, route.engine)
            assert built_in.engine == "legacy"
            assert "Report 1" in built_in.text
        finally:
            await engines.close()
            await engines.close()


async def test_the_interface_of_mineru_is_a_setting() -> None:
    with running_service() as mineru:
        engines = ParserEngines.from_settings(settings(mineru_local_endpoint=mineru.url, mineru_api_mode="v1"))
        with pytest.raises(Exception, match="404"):
            await engines.parse("a.pdf", b"x", "mineru")
        assert mineru.paths == ["POST /v1/uploads"]
        await engines.close()


async def test_only_so_many_files_at_a_service() -> None:
    running = most = 0

    async def slow(source: str, content: bytes | Path) -> ParsedText:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return ParsedText(source, (), "docling")

    engines = ParserEngines(services={"docling": (slow, 2)})
    outcome = await asyncio.gather(*(engines.parse(f"{number}.pdf", b"x", "docling") for number in range(6)))
    assert [parsed.text for parsed in outcome] == [f"{number}.pdf" for number in range(6)]
    assert most == 2
    await engines.close()


async def test_engines_that_are_not_set_up() -> None:
    engines = ParserEngines.from_settings(settings())
    assert engines.configured == frozenset()
    with pytest.raises(InputError, match=r"engine 'docling' for 'a\.pdf' is not set up; usable are legacy"):
        await engines.parse("a.pdf", b"x", "docling")
    await engines.close()


@pytest.mark.parametrize(
    ("values", "message"),
    [({"parser_rules": "pdf:magic"}, "parser rule 'pdf:magic'"), ({"docling_endpoint": "here"}, "endpoint 'here'")],
)
def test_settings_that_cannot_be_used(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ParserEngines.from_settings(settings(**values))


async def test_limits_and_password_come_from_the_settings() -> None:
    engines = ParserEngines.from_settings(settings(pdf_decrypt_password="secret", parser_timeout=30))
    try:
        assert "Report 1" in (await engines.parse("a.pdf", corpus.pdf(password="secret"))).text
    finally:
        await engines.close()
