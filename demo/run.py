"""The demo: read a corpus, build its graph, answer questions with references, some limited by dates and tags.

No key, no network.

    python -m demo.run            # or scripts/demo.sh, which sets everything up first and leaves a server running

What was read stays in ``demo/.work``; a second run resumes what is missing and then only asks.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from demo.progress import Bar, Display
from demo.settings import SCOPE_PREFIXES
from lightrag import LightRAG, QueryParam
from lightrag.embedding.offline import offline_embedding
from lightrag.exceptions import LightRAGError
from lightrag.llm.offline import offline_complete

DEMO = Path(__file__).resolve().parent
WORK = DEMO / ".work"
MARKER = "corpus.sha256"
POLL_SECONDS = 0.1
CITATION = re.compile(r"\[(\d+)\]")
# Answers may end with a list of what they cite, which is shown here in a form of its own.
REFERENCE_LIST = re.compile(r"^#+ References\b", re.MULTILINE)

READER = (
    "This is the offline reader: a small embedding model on this machine, entities found by rules, answers made of "
    "sentences quoted from the sources. No language model is asked."
)


class DemoError(Exception):
    """The demo cannot go on; the message says why and what to do."""


@dataclass(frozen=True)
class Source:
    """One file of the corpus.

    Attributes:
        path: Relative to the corpus, with slashes; also the document's id and what references show.
        text: Its content.
        metadata: Dates, tags and notes as :class:`lightrag.DocumentMetadata` takes them.
    """

    path: str
    text: str
    metadata: dict[str, Any]

    @property
    def title(self) -> str:
        """Title from the notes, ``""`` when there is none."""
        return str(self.metadata.get("meta", {}).get("title") or "")


def read_corpus(folder: Path) -> list[Source]:
    """Read every file that ``metadata.json`` of the folder names.

    Raises:
        DemoError: A file is missing.
    """
    try:
        described = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
        return [
            Source(path, (folder / path).read_text(encoding="utf-8"), metadata)
            for path, metadata in sorted(described.items())
        ]
    except FileNotFoundError as error:
        raise DemoError(f"a file of the corpus is missing: {error.filename}") from error


def prepare_work(work: Path, sources: Sequence[Source], *, fresh: bool) -> bool:
    """Make the folder of the stores, emptied when it holds another corpus, another version, or on request.

    Returns:
        Whether an earlier run of the same corpus is there.
    """
    described = [version("lightrag-hku"), [(source.path, source.text, source.metadata) for source in sources]]
    wanted = hashlib.sha256(json.dumps(described).encode()).hexdigest()
    marker = work / MARKER
    known = not fresh and marker.is_file() and marker.read_text(encoding="utf-8") == wanted
    if not known and work.exists():
        shutil.rmtree(work)
    work.mkdir(parents=True, exist_ok=True)
    marker.write_text(wanted, encoding="utf-8")
    return known


async def ingest(rag: LightRAG, sources: Sequence[Source], display: Display) -> None:
    """Add what is not stored yet and process everything that is not finished.

    Raises:
        DemoError: A document failed; the message names it and the reason.
    """
    stored = await rag.aget_docs_by_ids([source.path for source in sources])
    missing = [source for source in sources if source.path not in stored]
    with display.bars():
        if missing:
            bar = display.bar("Adding", len(missing))
            for number, source in enumerate(missing, start=1):
                await rag.apipeline_enqueue_documents(
                    source.text, ids=source.path, file_paths=source.path, document_metadata=source.metadata
                )
                bar.set(number, source.path)
        open_documents = await unfinished(rag, sources)
        if open_documents:
            await process(rag, display.bar("Reading", len(open_documents)), len(open_documents))
    failed = await unfinished(rag, sources)
    if failed:
        reasons = "\n".join(f"  {path}: {reason}" for path, reason in failed.items())
        raise DemoError(f"{len(failed)} of {len(sources)} documents could not be read:\n{reasons}")


async def unfinished(rag: LightRAG, sources: Sequence[Source]) -> dict[str, str]:
    """Return the paths of documents that are not processed, with the reason or state."""
    rows = await rag.aget_docs_by_ids([source.path for source in sources])
    states = {source.path: rows.get(source.path) for source in sources}
    return {
        path: (row.error_msg or row.status.value) if row is not None else "not stored"
        for path, row in states.items()
        if row is None or row.status.value != "processed"
    }


async def process(rag: LightRAG, bar: Bar, total: int) -> None:
    """Run the pipeline, documents that failed last time included, and show how far it is."""
    running = asyncio.create_task(rag.aretry_failed_documents())
    while not running.done():
        status = rag.pipeline_status()
        bar.set(min(status["cur_batch"], total), status["latest_message"])
        await asyncio.wait({running}, timeout=POLL_SECONDS)
    await running
    bar.set(total)


@dataclass(frozen=True)
class Answer:
    """An answer as it is shown.

    Attributes:
        text: Without the list of references at its end.
        cited: Path by number, of the references that the text names.
        consulted: Paths of all documents that the answer could draw on.
    """

    text: str
    cited: dict[str, str]
    consulted: list[str]

    @classmethod
    def from_result(cls, question: str, result: dict[str, Any]) -> Answer:
        """Read what ``aquery_llm`` returned.

        Raises:
            DemoError: There is no answer; the message says why.
        """
        content = (result.get("llm_response") or {}).get("content")
        if result.get("status") != "success" or not content:
            raise DemoError(f"no answer to {question!r}: {result.get('message')}")
        text = REFERENCE_LIST.split(content, maxsplit=1)[0].strip()
        paths = {row["reference_id"]: row["file_path"] for row in result["data"]["references"]}
        named = dict.fromkeys(CITATION.findall(text))
        return cls(text, {number: paths[number] for number in named if number in paths}, list(paths.values()))

    def astray(self, expected: Sequence[str]) -> str:
        """Say what is wrong with the sources of the answer; ``""`` when nothing is."""
        unseen = sorted(set(expected) - set(self.consulted))
        if unseen:
            return f"did not find {', '.join(unseen)}"
        if not set(expected) & set(self.cited.values()):
            return f"cites none of {', '.join(expected)}"
        return ""


async def ask(rag: LightRAG, question: str, param: QueryParam) -> Answer:
    """Ask one question.

    Raises:
        DemoError: There is no answer; the message says why.
    """
    return Answer.from_result(question, await rag.aquery_llm(question, param))


async def eligible_documents(rag: LightRAG, param: QueryParam) -> list[str]:
    """Return the paths of the documents that a limited question may draw on, sorted; those that a preview names."""
    return sorted(row["file_path"] for row in (await rag.afilter_preview(param)).examples)


def show_limit(console: Console, label: str, eligible: Sequence[str], titles: dict[str, str]) -> None:
    """Print what a question is limited to, and the documents that are left."""
    console.print()
    console.print(f"[bold]Only {escape(label)}[/bold]: {len(eligible)} of {len(titles)} documents are eligible")
    for path in eligible:
        console.print(Padding(f"{escape(path)}  [dim]{escape(titles.get(path, ''))}[/dim]", (0, 0, 0, 2)))


def show(console: Console, question: str, answer: Answer, titles: dict[str, str]) -> None:
    """Print a question, its answer and the documents it cites."""
    console.print()
    console.print(f"[bold]{escape(question)}[/bold]")
    console.print(Padding(escape(answer.text), (1, 0, 1, 2)))
    for number, path in answer.cited.items():
        line = f"{escape(f'[{number}]'):>5} {escape(path)}  [dim]{escape(titles.get(path, ''))}[/dim]"
        console.print(Padding(line, (0, 0, 0, 2)))
    others = len(answer.consulted) - len(answer.cited)
    if others > 0:
        told = "1 further document was consulted" if others == 1 else f"{others} further documents were consulted"
        console.print(Padding(f"[dim]{told}.[/dim]", (0, 0, 0, 2)))


async def demonstrate(rag: LightRAG, console: Console, item: dict[str, Any], titles: dict[str, str]) -> str:
    """Ask one question of the list, limited if it has a filter, and print what comes of it.

    Returns:
        What is wrong with its documents or sources, in a line; ``""`` when nothing is.

    Raises:
        DemoError: There is no answer; the message says why.
    """
    param = QueryParam(mode="mix", **item.get("filter", {}))
    eligible = sorted(titles)
    if "filter" in item:
        eligible = await eligible_documents(rag, param)
        show_limit(console, item["label"], eligible, titles)
    answer = await ask(rag, item["question"], param)
    show(console, item["question"], answer, titles)
    problem = answer.astray(item["expect_sources"])
    if eligible != sorted(item.get("eligible", titles)):
        problem = f"is limited to {', '.join(eligible)}, not to {', '.join(item['eligible'])}"
    elif outside := sorted(set(answer.consulted) - set(eligible)):
        problem = f"draws on {', '.join(outside)}, which is not eligible"
    return f"  {item['question']} {problem}" if problem else ""


async def demonstrate_reader(rag: LightRAG, console: Console, item: dict[str, Any], titles: dict[str, str]) -> str:
    """Ask what a reader knows after a chapter, of the graph that was built for that reader alone.

    Returns:
        What is wrong, in a line; ``""`` when nothing is.

    Raises:
        DemoError: There is no answer; the message says why.
    """
    tags = item["filter"].get("required_tags", [])
    known = len(await rag.get_graph_labels(tenant_tag=tags[0] if tags else None))
    console.print()
    console.print(f"[bold]A reader, {escape(item['label'])}[/bold]: this graph knows {known} entities")
    param = QueryParam(mode="mix", required_tags=tags)
    result = await rag.aquery_llm(item["question"], param)
    answer = Answer.from_result(item["question"], result)
    show(console, item["question"], answer, titles)
    told = json.dumps(result, default=str)
    revealed = [name for name in item["must_not_mention"] if name in told]
    missing = [name for name in item["must_mention"] if name not in told]
    outside = sorted(set(answer.consulted) - set(item["eligible"]))
    if revealed or missing or outside:
        found = f"reveals {revealed}, misses {missing}, draws on {outside}"
        return f"  {item['question']} ({item['label']}) {found}"
    return ""


async def run(options: argparse.Namespace, console: Console) -> None:
    """Run the demo from beginning to end.

    Raises:
        DemoError: It could not be finished, or ``--check`` found other documents or sources than expected.
    """
    sources = read_corpus(DEMO / "corpus")
    asked = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    questions, limited = asked["first_demo"], asked["archive_filters"]
    known = prepare_work(WORK, sources, fresh=options.fresh)
    console.print(f"[bold]{len(sources)} documents[/bold], stored in {escape(str(WORK))}")
    console.print(f"[dim]{READER}[/dim]\n")
    rag = LightRAG(
        working_dir=str(WORK),
        workspace="",
        llm_model_func=offline_complete,
        llm_model_name="offline",
        embedding_func=offline_embedding(),
        scope_tag_prefixes=SCOPE_PREFIXES,
        enable_kg_scope_materialization=True,
    )
    await rag.initialize_storages()
    try:
        begin = time.perf_counter()
        await ingest(rag, sources, Display(console))
        entities = len(await rag.get_graph_labels())
        took = time.perf_counter() - begin
        console.print(f"{'Found' if known else 'Read'} {len(sources)} documents, {entities} entities, in {took:.1f} s.")
        titles = {source.path: source.title for source in sources}
        astray = [await demonstrate(rag, console, item, titles) for item in [*questions, *limited]]
        astray += [await demonstrate_reader(rag, console, item, titles) for item in asked["reader_scopes"]]
    finally:
        await rag.finalize_storages()
    if options.check and any(astray):
        raise DemoError("documents or sources are not as they should be:\n" + "\n".join(filter(None, astray)))
    console.print("\n[dim]Run it again: the documents are there, and it only asks. --fresh reads them anew.[/dim]")


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="demo.run", description="Read the demo corpus and ask questions.")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run read")
    parser.add_argument(
        "--check",
        action="store_true",
        help="fail unless questions have the documents and answers the sources they should",
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo and turn what goes wrong into plain words.

    Returns:
        Exit code: 0 done, 1 failed, 130 stopped by the user.
    """
    options = parse_arguments(argv)
    try:
        asyncio.run(run(options, Console(highlight=False)))
    except KeyboardInterrupt:
        print("\nStopped. Run it again: what is finished is kept.", file=sys.stderr)
        return 130
    except (DemoError, LightRAGError, OSError) as error:
        print(f"\nThe demo stopped: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
