"""``lightrag graph``: look at the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from lightrag.cli.errors import Group
from lightrag.cli.grouping import examples, grouped
from lightrag.cli.options import CorpusOptions
from lightrag.cli.output import Output
from lightrag.cli.running import work_on
from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.exceptions import NotFoundError

if TYPE_CHECKING:
    from lightrag.cli.corpus import Corpus, Row

EVERYTHING = "*"
_LONGEST_DESCRIPTION = 200

app = typer.Typer(cls=Group, help="Look at the graph of entities and relations.")


@dataclass(frozen=True)
class ViewOptions:
    """How much of the graph.

    Attributes:
        scope: Scope tag.
        depth: Hops.
        nodes: Entities at the most.
    """

    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", metavar="TAG", help="Scope, such as tenant:1; otherwise the whole graph.", show_default=False
        ),
    ] = None
    depth: Annotated[int, typer.Option("--depth", min=1, max=64, metavar="COUNT", help="Hops from the entity.")] = 1
    nodes: Annotated[
        int, typer.Option("--nodes", min=1, max=1_000_000, metavar="COUNT", help="Entities at the most.")
    ] = 100


@app.command(
    "show",
    epilog=examples(
        "lightrag graph show Velmouth",
        "lightrag graph show '*' --nodes 20",
        "lightrag graph show Velmouth --depth 2 --scope known-in-chapter:03 --json",
    ),
)
@grouped
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of an entity; * for the best connected.", show_default=False)
    ],
    how: ViewOptions,
    corpus: CorpusOptions,
) -> None:
    """Show an entity, what it is linked to, and by what."""
    from lightrag.cli.corpus import View

    output = Output(corpus.as_json, corpus.verbose)

    async def work(opened: Corpus) -> None:
        found = await opened.graph(View(name, how.depth, how.nodes, how.scope))
        if not found["nodes"] and name != EVERYTHING:
            near = await opened.similar_names(name, how.scope)
            hint = f"; similar are {', '.join(map(repr, near))}" if near else ""
            raise NotFoundError(f"there is no entity {name!r}{f' in {how.scope!r}' if how.scope else ''}{hint}")
        if corpus.as_json:
            output.value(found)
        else:
            _print_graph(output, found)

    work_on(corpus, output, work, embeds=False)


def _print_graph(output: Output, found: Row) -> None:
    nodes = [(node["id"], node["properties"].get("entity_type"), _description(node)) for node in found["nodes"]]
    edges = [
        (edge["source"], edge["target"], edge["properties"].get("keywords"), _description(edge))
        for edge in found["edges"]
    ]
    output.table(("Entity", "Type", "Description"), nodes, title="Entities")
    output.table(("Entity", "Entity", "Keywords", "Description"), edges, title="Relations")
    if not nodes:
        output.line("The graph is empty.")
    if found["is_truncated"]:
        output.line("There is more; --nodes shows it.")


def _description(found: Row) -> str:
    text = " / ".join(str(found["properties"].get("description") or "").split(GRAPH_FIELD_SEP))
    return text if len(text) <= _LONGEST_DESCRIPTION else f"{text[: _LONGEST_DESCRIPTION - 3]}..."


def register(root: typer.Typer) -> None:
    """Add the group."""
    root.add_typer(app, name="graph")
