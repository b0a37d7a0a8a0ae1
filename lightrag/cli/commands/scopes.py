"""``lightrag scopes``: the partitions of the graph."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lightrag.cli.errors import FAILED, Group
from lightrag.cli.grouping import examples, grouped
from lightrag.cli.options import CorpusOptions, FolderOptions
from lightrag.cli.output import Output
from lightrag.cli.progress import progressing
from lightrag.cli.running import work_in_folder, work_on
from lightrag.exceptions import InputError

if TYPE_CHECKING:
    from lightrag.cli.corpus import Corpus
    from lightrag.lightrag import LightRAG

app = typer.Typer(cls=Group, help="The partitions of the graph: one for each tenant, chapter or language.")


@app.command("list", epilog=examples("lightrag scopes list"))
@grouped
def list_scopes(corpus: CorpusOptions) -> None:
    """List the scopes that have a graph of their own, with the number of their entities."""
    output = Output(corpus.as_json, corpus.verbose)

    async def work(opened: Corpus) -> None:
        found = await opened.scopes()
        if corpus.as_json:
            output.value({"scopes": [{"scope": name, "entities": count} for name, count in found.items()]})
            return
        output.table(("Scope", "#Entities"), list(found.items()))
        if not found:
            output.line(
                "There are no scopes; LIGHTRAG_SCOPE_TAG_PREFIXES and LIGHTRAG_KG_SCOPE_MATERIALIZATION set them up."
            )

    work_on(corpus, output, work, embeds=False)


@app.command("rebuild", epilog=examples("lightrag scopes rebuild --dir ./rag_storage"))
@grouped
def rebuild(
    folder: FolderOptions,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before scopes are taken away.")] = False,
) -> None:
    """Bring the scopes in line with the tags of the documents and the settings, without reading them again.

    With scopes switched off in the settings this takes all of them away. An interrupted run is continued by the next.
    """
    output = Output(folder.as_json, folder.verbose)
    if not yes:
        _confirm_removal(output)

    async def work(engine: LightRAG) -> None:
        with progressing(output) as shown:
            bar = shown.bar("Rebuilding")

            def told(done: int, total: int) -> None:
                output.when_interrupted = f"{done} of {total} documents are done; give the same command again to go on"
                bar.set(done, total)

            outcome = await engine.arebuild_scopes(told)
        scopes = await engine.alist_scopes()
        if folder.as_json:
            output.value({"documents": outcome.documents, "changed": outcome.changed, "scopes": scopes})
            return
        output.line(
            f"{outcome.changed} of {outcome.documents} documents joined or left a scope; there are now {len(scopes)}."
        )

    work_in_folder(folder, output, work)


def _confirm_removal(output: Output) -> None:
    """Ask, where the settings say that there shall be no scopes, whether all of them shall go.

    Raises:
        InputError: Nobody can be asked.
        Exit: They shall not.
    """
    from lightrag.settings import load_settings

    settings = load_settings()
    if settings.enable_kg_scope_materialization and settings.scope_tag_prefixes:
        return
    if not sys.stdin.isatty():
        raise InputError(
            "scopes are switched off (LIGHTRAG_KG_SCOPE_MATERIALIZATION, LIGHTRAG_SCOPE_TAG_PREFIXES), so this takes "
            "all of them away; say --yes for that"
        )
    if not typer.confirm("Scopes are switched off in the settings. Take all of them away?", err=True):
        output.note("nothing was changed")
        raise typer.Exit(FAILED)


def register(root: typer.Typer) -> None:
    """Add the group."""
    root.add_typer(app, name="scopes")
