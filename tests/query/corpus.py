"""A small corpus, written straight into the fake stores, so that what a query must find is known by heart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.contracts.models import Tokenizer
from lightrag.graph.rendering import entity_line, relation_line
from lightrag.parser.engines import ParserEngines
from lightrag.runtime.llm_cache import LLMCache
from lightrag.runtime.tokens import count_tokens
from lightrag.settings import load_settings
from tests.fakes.models import HashEmbedder, ScriptedLLM, WordTokenizer, fake_models
from tests.fakes.stores import fake_stores

CREATED_AT = 1_700_000_000


@dataclass
class Engine:
    """A workspace of fakes and the models behind it."""

    context: EngineContext
    llm: ScriptedLLM
    keyword_llm: ScriptedLLM
    embedder: HashEmbedder
    tokenizer: Any

    @property
    def reads(self) -> list[str]:
        return self.context.stores.graph.fake.reads


def make_engine(
    *, rerank: Any = None, tokenizer: Tokenizer | None = None, floor: float = 0.05, **settings: Any
) -> Engine:
    """Return an engine over empty stores."""
    llm, keyword_llm, embedder = ScriptedLLM(), ScriptedLLM(default='{"high_level_keywords": []}'), HashEmbedder()
    tokenizer = tokenizer or WordTokenizer()
    models = fake_models(query=llm, keyword=keyword_llm, embedder=embedder, rerank=rerank, tokenizer=tokenizer)
    stores = fake_stores(embedder.function(), similarity_floor=floor)
    context = EngineContext(
        settings=load_settings(**settings),
        stores=stores,
        models=models,
        cache=LLMCache(stores.llm_response_cache, enabled=settings.get("enable_llm_cache", True)),
        graph_lock=asyncio.Lock(),
        parsers=ParserEngines.from_settings(load_settings()),
    )
    return Engine(context, llm, keyword_llm, embedder, tokenizer)


@dataclass
class Document:
    """What one document says.

    Attributes:
        path: Its source.
        chunks: Texts.
        entities: ``(chunk index, name, type, description)``.
        relations: ``(chunk index, source, target, keywords, description, weight)``.
    """

    path: str
    chunks: Sequence[str]
    entities: Sequence[tuple[int, str, str, str]] = ()
    relations: Sequence[tuple[int, str, str, str, str, float]] = ()


@dataclass
class Writer:
    """Writes documents; objects seen before get further evidence and keep their first description."""

    engine: Engine
    documents: int = 0
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    async def add(self, *documents: Document) -> None:
        for document in documents:
            await self._add(document)
        await self.engine.context.stores.mark_corpus_changed()

    async def _add(self, document: Document) -> None:
        stores = self.engine.context.stores
        self.documents += 1
        doc_id = f"doc-{self.documents}"
        ids = [f"{doc_id}-chunk-{index:03}" for index in range(len(document.chunks))]
        for index, text in enumerate(document.chunks):
            base = {"content": text, "full_doc_id": doc_id, "file_path": document.path}
            tokens = count_tokens(self.engine.tokenizer, text)
            await stores.text_chunks.upsert({ids[index]: {**base, "tokens": tokens, "chunk_order_index": index}})
            await stores.chunks.upsert({ids[index]: base})
        rows: list[Evidence] = []
        for index, name, kind, text in document.entities:
            rows.append(Evidence(ObjectKind.ENTITY, name, ids[index], doc_id, text, kind, file_path=document.path))
            await self._entity(name, kind, text)
        for index, source, target, keywords, text, weight in document.relations:
            key = relation_key(source, target)
            rows.append(
                Evidence(
                    ObjectKind.RELATION, key, ids[index], doc_id, text, "", keywords, weight, document.path, CREATED_AT
                )
            )
            await self._relation(source, target, keywords, text, weight)
        await stores.evidence.add(rows)

    async def _entity(self, name: str, kind: str, text: str) -> None:
        if name in self.nodes:
            return
        stores = self.engine.context.stores
        self.nodes[name] = {
            "entity_id": name,
            "entity_name": name,
            "entity_type": kind,
            "description": text,
            "created_at": CREATED_AT,
            "tokens": count_tokens(self.engine.tokenizer, entity_line(name, kind, text)),
            "tenant_tag": "",
            "evidence_count": 1,
        }
        await stores.graph.upsert_node(name, self.nodes[name])
        row = {"content": f"{name}\n{text}", "entity_name": name, "graph_node_id": name, "tenant_tag": ""}
        await stores.entities.upsert({f"ent-{name}": row})

    async def _relation(self, source: str, target: str, keywords: str, text: str, weight: float) -> None:
        pair = (source, target) if source <= target else (target, source)
        if pair in self.edges:
            return
        stores = self.engine.context.stores
        self.edges[pair] = {
            "description": text,
            "keywords": keywords,
            "weight": weight,
            "created_at": CREATED_AT,
            "tokens": count_tokens(self.engine.tokenizer, relation_line(*pair, text)),
            "tenant_tag": "",
            "evidence_count": 1,
        }
        await stores.graph.upsert_edge(*pair, self.edges[pair])
        row = {
            "content": f"{keywords}\t{pair[0]}\n{pair[1]}\n{text}",
            "src_id": pair[0],
            "tgt_id": pair[1],
            "tenant_tag": "",
        }
        await stores.relationships.upsert({f"rel-{pair[0]}-{pair[1]}": row})


HARBOUR = Document(
    path="acts/harbour.md",
    chunks=[
        "The Harbour Act founded the Westhaven Dock Board and gave it the pier.",
        "The Westhaven Dock Board levies harbour dues on every vessel that lands coal.",
        "Coal is weighed at the pier before it is stored.",
    ],
    entities=[
        (0, "Harbour Act", "law", "The Harbour Act founded the dock board."),
        (0, "Westhaven Dock Board", "organization", "The dock board runs the pier and levies dues."),
        (1, "Westhaven Dock Board", "organization", "It levies dues on coal."),
        (0, "Pier", "location", "A pier where coal is landed and weighed."),
        (2, "Pier", "location", "Coal is weighed there."),
        (1, "Coal", "product", "Coal is landed by vessels."),
    ],
    relations=[
        (0, "Harbour Act", "Westhaven Dock Board", "foundation", "The act founded the board.", 2.0),
        (1, "Westhaven Dock Board", "Coal", "dues, trade", "The board levies dues on coal.", 1.0),
        (2, "Coal", "Pier", "weighing", "Coal is weighed at the pier.", 3.0),
        (0, "Westhaven Dock Board", "Pier", "ownership", "The board owns the pier.", 5.0),
    ],
)
LETTER = Document(
    path="letters/ana.md",
    chunks=["Ana Brook complains to the dock board about the harbour dues on her coal."],
    entities=[
        (0, "Ana Brook", "person", "Ana Brook is a merchant who complains about harbour dues."),
        (0, "Westhaven Dock Board", "organization", "The board received a complaint."),
    ],
    relations=[
        (0, "Ana Brook", "Westhaven Dock Board", "complaint", "Ana Brook complains about the dues.", 1.0),
    ],
)
ORPHAN = Document(
    path=UNKNOWN_SOURCE,
    chunks=["A note without a source says that coal dues were halved."],
    entities=[(0, "Coal", "product", "Dues on coal were halved.")],
)


async def archive(**options: Any) -> Engine:
    """Return an engine over the three documents."""
    engine = make_engine(**options)
    await Writer(engine).add(HARBOUR, LETTER, ORPHAN)
    engine.reads.clear()
    engine.embedder.calls.clear()
    return engine
