"""``lightrag query``, ``preview`` and ``facets``: ask, and see beforehand what a filter leaves to ask."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightrag.cli.answer_text import AnswerText
from lightrag.cli.errors import FAILED, tell
from lightrag.cli.filters import ChosenFilter, choose
from lightrag.cli.grouping import examples, grouped
from lightrag.cli.options import CorpusOptions, FilterOptions
from lightrag.cli.output import Output, period
from lightrag.cli.running import work_on
from lightrag.exceptions import InputError

if TYPE_CHECKING:
    from lightrag.cli.corpus import Corpus, Row

MODES = ("local", "global", "hybrid", "naive", "mix", "bypass")
_BAR_WIDTH = 40
_QUERY_EXAMPLES = examples(
    'lightrag query "Who drew the bridge?"',
    'lightrag query "Which dues are owed?" --require type:act --at 1930-06-15 --preset legislation-in-force',
    'lightrag query "What was quarrelled about?" --require newspaper --require letter --any --from 1930 --to 1939-06',
    'lightrag query "Who drew the bridge?" --folder archive/letters --json',
)
_PREVIEW_EXAMPLES = examples("lightrag preview --require type:act --at 1930-06-15", "lightrag preview --undated only")
_FACETS_EXAMPLES = examples("lightrag facets", "lightrag facets --require type:letter --from 1926")
_CITED = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class QueryOptions:
    """How a question is answered.

    Attributes:
        mode: Retrieval mode.
        top_k: Entities or relations that are looked up.
        chunk_top_k: Chunks at the most.
        only_context: Print what the answer would be based on.
        no_stream: Print the answer when it is whole.
    """

    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            "-m",
            metavar="MODE",
            help="local from entities, global from relations, hybrid from "
            "both, naive from chunks, mix from all, bypass without the corpus.",
        ),
    ] = "mix"
    top_k: Annotated[
        int | None,
        typer.Option(
            "--top-k", min=1, max=1000, metavar="COUNT", help="Entities or relations looked up.", show_default=False
        ),
    ] = None
    chunk_top_k: Annotated[
        int | None,
        typer.Option("--chunk-top-k", min=1, max=1000, metavar="COUNT", help="Chunks at the most.", show_default=False),
    ] = None
    only_context: Annotated[
        bool, typer.Option("--only-context", help="Print what the answer would be based on instead of an answer.")
    ] = False
    no_stream: Annotated[bool, typer.Option("--no-stream", help="Print the answer when it is whole.")] = False


@grouped
def query(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.", show_default=False)],
    how: QueryOptions,
    limits: FilterOptions,
    corpus: CorpusOptions,
) -> None:
    """Answer a question from the documents, with references.

    The answer is printed as it comes, then its sources as a table; a mark shows which of them it names.
    """
    output = Output(corpus.as_json, corpus.verbose)
    if how.mode not in MODES:
        raise InputError(f"--mode is {how.mode!r}; allowed are {', '.join(MODES)}")
    chosen = choose(limits)
    asked: dict[str, Any] = {"query": question, "mode": how.mode, **chosen.fields}
    asked |= {name: value for name in ("top_k", "chunk_top_k") if (value := getattr(how, name)) is not None}
    if how.only_context:
        asked["only_need_context"] = True

    async def work(opened: Corpus) -> None:
        if corpus.as_json:
            output.value({**await opened.answer(asked), **chosen.as_json()})
            return
        _print_filter(output, chosen)
        if how.no_stream:
            answer = await opened.answer(asked)
            _print_answer(output, answer)
        else:
            await _stream(output, opened, asked)

    work_on(corpus, output, work)


async def _stream(output: Output, corpus: Corpus, asked: dict[str, Any]) -> None:
    text = AnswerText()
    references: list[Row] = []
    async for line in corpus.answer_lines(asked):
        if line.get("error"):
            output.line()
            tell(f"the answer broke off: {line['error']}")
            raise typer.Exit(FAILED)
        references = line.get("references") or references
        output.piece(text.add(str(line.get("response") or "")))
    output.line(text.end())
    _print_references(output, references, text.whole)


def _print_answer(output: Output, answer: Row) -> None:
    text = AnswerText()
    output.line(text.add(str(answer["response"])) + text.end())
    _print_references(output, answer["references"] or [], text.whole)
    if answer.get("cut_off"):
        tell("the answer was cut off at the model's length limit")


def _print_filter(output: Output, chosen: ChosenFilter) -> None:
    if chosen.fields:
        output.line(f"Only documents {chosen.in_words()}\n")


def _print_references(output: Output, references: list[Row], answer: str) -> None:
    cited = set(_CITED.findall(answer))
    rows = [
        (row["reference_id"], "*" if row["reference_id"] in cited else None, row["file_path"]) for row in references
    ]
    output.table(("#No.", "Cited", "Document"), rows, title="References")


@grouped
def preview(limits: FilterOptions, corpus: CorpusOptions) -> None:
    """Tell how many documents a filter would leave, and name some of them."""
    output = Output(corpus.as_json, corpus.verbose)
    chosen = choose(limits)

    async def work(opened: Corpus) -> None:
        found = await opened.preview(chosen.fields)
        if corpus.as_json:
            output.value({**found, **chosen.as_json()})
            return
        _print_filter(output, chosen)
        output.line(
            f"{found['eligible_documents']} of {found['total_documents']} documents, {found['eligible_chunks']} chunks."
        )
        rows = [
            (row["file_path"], period(row["start_date"], row["end_date"]), ", ".join(row["tags"]))
            for row in found["examples"]
        ]
        output.table(("Document", "Dates", "Tags"), rows, title="Newest first" if rows else "")

    work_on(corpus, output, work, embeds=False)


@grouped
def facets(limits: FilterOptions, corpus: CorpusOptions) -> None:
    """Count what there is to filter by: tags, types, folders and dates."""
    output = Output(corpus.as_json, corpus.verbose)
    chosen = choose(limits)

    async def work(opened: Corpus) -> None:
        found = await opened.facets(chosen.fields)
        if corpus.as_json:
            output.value({**found, **chosen.as_json()})
            return
        _print_filter(output, chosen)
        output.line(f"{found['documents']} documents, {found['undated']} of them without any date.")
        _print_facets(output, found)

    work_on(corpus, output, work, embeds=False)


def _print_facets(output: Output, found: Row) -> None:
    tags = [
        (f"{facet}:{value}" if facet else value, count)
        for facet, values in found["tags"].items()
        for value, count in values.items()
    ]
    output.table(("Tag", "#Documents"), tags, title="Tags")
    for name, title, column in (("doc_types", "Types", "Type"), ("folders", "Folders", "Folder")):
        rows = [(value or "(none)", count) for value, count in found[name].items()]
        output.table((column, "#Documents"), rows, title=title)
    bars = [bar for bar in found["histogram"] if bar["documents"]]
    most = max((bar["documents"] for bar in bars), default=1)
    output.table(
        ("Years", "#Documents", ""),
        [(_years(bar), bar["documents"], "#" * max(1, bar["documents"] * _BAR_WIDTH // most)) for bar in bars],
        title="Dates",
    )


def _years(bar: Row) -> str:
    first, width = bar["start_year"], bar["years"]
    return str(first) if width == 1 else f"{first} to {first + width - 1}"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("query", epilog=_QUERY_EXAMPLES)(query)
    app.command("preview", epilog=_PREVIEW_EXAMPLES)(preview)
    app.command("facets", epilog=_FACETS_EXAMPLES)(facets)
