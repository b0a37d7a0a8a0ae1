"""Open a corpus, work on it, and close it, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lightrag.cli.errors import Interrupted
from lightrag.cli.options import CorpusOptions, FolderOptions
from lightrag.cli.output import Output
from lightrag.exceptions import InputError, NotFoundError

if TYPE_CHECKING:
    from lightrag.cli.corpus import Corpus
    from lightrag.lightrag import LightRAG

T = TypeVar("T")

# Storages whose data is in the folder; the others have theirs on a server, and need no folder.
_IN_FOLDER = ("SQLite", "Json")


def work_on(
    options: CorpusOptions,
    output: Output,
    work: Callable[[Corpus], Awaitable[None]],
    *,
    may_be_new: bool = False,
    embeds: bool = True,
) -> None:
    """Open the corpus that options name, folder or server, and do something with it.

    Args:
        options: Where it is.
        output: Knows what to say when somebody presses Ctrl-C.
        work: What to do.
        may_be_new: Make a folder that does not exist.
        embeds: It needs the embedding model of the corpus.

    Raises:
        InputError: The options contradict each other.
        Interrupted: Ctrl-C; what was not done is undone or resumes.
        LightRAGError: The work failed.
    """

    async def run() -> None:
        if options.server is not None:
            async with _served(options, options.server) as corpus:
                await work(corpus)
            return
        async with opened(options, may_be_new=may_be_new, embeds=embeds) as engine:
            from lightrag.cli.local import LocalCorpus

            await work(LocalCorpus(engine))

    run_to_end(output, run)


def work_in_folder(
    options: FolderOptions, output: Output, work: Callable[[LightRAG], Awaitable[None]], *, embeds: bool = True
) -> None:
    """As :func:`work_on`, for what only an engine in this process can do."""

    async def run() -> None:
        async with opened(options, may_be_new=False, embeds=embeds) as engine:
            await work(engine)

    run_to_end(output, run)


def run_to_end(output: Output, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run something to its end.

    Args:
        output: Knows what to say when somebody presses Ctrl-C.
        work: What to do; it is cancelled by Ctrl-C, and closes what it opened.

    Raises:
        Interrupted: Ctrl-C.
    """
    try:
        return asyncio.run(work())
    except KeyboardInterrupt as error:
        raise Interrupted("; ".join(part for part in ("interrupted", output.when_interrupted) if part)) from error


@asynccontextmanager
async def opened(options: CorpusOptions | FolderOptions, *, may_be_new: bool, embeds: bool) -> AsyncIterator[LightRAG]:
    """Open the engine of a folder for the length of the block.

    Raises:
        NotFoundError: There is no corpus, and none may be made.
    """
    from lightrag.configured import build_engine
    from lightrag.settings_api import load_api_settings

    engine = build_engine(
        load_api_settings(),
        embeds=embeds,
        working_dir=None if options.directory is None else str(options.directory),
        workspace=options.workspace,
    )
    if not may_be_new:
        _require_corpus(engine)
    await engine.initialize_storages()
    try:
        yield engine
    finally:
        await engine.finalize_storages()


def _require_corpus(engine: LightRAG) -> None:
    if not engine.kv_storage.startswith(_IN_FOLDER):
        return
    folder = Path(engine.working_dir)
    if not folder.is_dir():
        raise NotFoundError(f"there is no corpus in {str(folder)!r}: no such folder; `lightrag ingest` makes one")
    if engine.workspace and not (folder / engine.workspace).is_dir():
        there = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
        known = f"; there are {', '.join(map(repr, there))}" if there else ""
        raise NotFoundError(f"there is no workspace {engine.workspace!r} in {str(folder)!r}{known}")


@asynccontextmanager
async def _served(options: CorpusOptions, server: str) -> AsyncIterator[Corpus]:
    from lightrag.cli.connection import Requests, make_client
    from lightrag.cli.remote import RemoteCorpus

    given = {"--dir": options.directory, "--workspace": options.workspace}
    refused = [name for name, value in given.items() if value is not None]
    if refused:
        raise InputError(f"{refused[0]} is for a corpus in a folder; a server has its own, so leave it out")
    async with make_client(server, _key(options)) as client:
        yield RemoteCorpus(Requests(client))


def _key(options: CorpusOptions) -> str:
    if options.key is not None:
        return options.key
    from lightrag.settings_api import load_api_settings

    return load_api_settings().lightrag_api_key
