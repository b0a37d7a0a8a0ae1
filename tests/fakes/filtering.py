"""What tests of filters share: the ways in which a filter reaches the stores, and models made for them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import numpy as np
import pytest

from lightrag import LightRAG, QueryParam
from lightrag.contracts.models import EmbeddingFunc
from tests.fakes.facts import FactModel
from tests.flow.conftest import EngineFactory

GRAPH_MODES = ("local", "global", "hybrid", "mix")
MODES = (*GRAPH_MODES, "naive")

# As the stores do by themselves; by fetching further until the page is full; by fields stamped on vector rows; as the
# other family of stores does by itself.
WAYS = ("stores", "gate", "pushdown", "files")
FILES = {
    "kv_storage": "JsonKVStorage",
    "vector_storage": "NanoVectorDBStorage",
    "graph_storage": "NetworkXStorage",
    "doc_status_storage": "JsonDocStatusStorage",
}

_PLACE = re.compile(r"\bat (-?\d\.\d+)")
_PLACE_DIMENSION = 64


async def open_in_way(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, model: Any = None, **fields: Any
) -> LightRAG:
    """Open an engine on which filters work in one of the ``WAYS``; results must not depend on which.

    Unless told otherwise nothing is too dissimilar to be found, so a result holds all that a filter leaves.
    """
    fields.setdefault("vector_db_storage_cls_kwargs", {"cosine_better_than_threshold": -1.0})
    stores = FILES if way == "files" else {}
    engine = await make_engine(model, enable_vector_metadata_filters=way == "pushdown", **stores, **fields)
    if way in ("gate", "pushdown"):
        leave_filtering_to_the_gate(engine, monkeypatch)
    return engine


def leave_filtering_to_the_gate(engine: LightRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stores of an engine not filter by documents, as stores that live elsewhere cannot."""
    for kind in {type(engine.chunks_vdb), type(engine.context.stores.evidence)}:
        monkeypatch.setattr(kind, "filters_by_documents", property(lambda self: False))


def placed_embedding() -> EmbeddingFunc:
    """Return an embedding by which a text that says ``at 0.93`` has that cosine similarity to one that says nothing."""

    async def embed(texts: list[str]) -> np.ndarray:
        return np.stack([_placed(text) for text in texts])

    return EmbeddingFunc(embedding_dim=_PLACE_DIMENSION, func=embed, model_name="placed")


def _placed(text: str) -> np.ndarray:
    vector = np.zeros(_PLACE_DIMENSION, dtype=np.float32)
    found = _PLACE.search(text)
    vector[0] = float(found[1]) if found else 1.0
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")
    aside = np.random.default_rng(seed).standard_normal(_PLACE_DIMENSION - 1)
    vector[1:] = aside / np.linalg.norm(aside) * np.sqrt(max(0.0, 1.0 - float(vector[0]) ** 2))
    return vector


class Reciting(FactModel):
    """Answers with everything it was shown, in pieces when it is asked to stream."""

    async def __call__(  # type: ignore[override]
        self,
        prompt: str,
        system_prompt: str | None = None,
        history_messages: list[dict[str, str]] | None = None,
        **kwargs: Any,
    ) -> str | AsyncIterator[str]:
        reply = await super().__call__(prompt, system_prompt, history_messages, **kwargs)
        if self.calls[-1][0] != "answer":
            return reply
        text = f"{prompt}\n{system_prompt or ''}"
        return _pieces(text) if kwargs.get("stream") else text

    def shown(self) -> str:
        """Return all prompts of answers so far."""
        return "\n".join(f"{prompt}\n{system}" for task, prompt, system in self.calls if task == "answer")


async def _pieces(text: str) -> AsyncIterator[str]:
    for start in range(0, len(text), 40):
        yield text[start : start + 40]


def timeless(result: Any) -> Any:
    """Return a result without its times, which differ between two lives of the same corpus."""
    if isinstance(result, Mapping):
        return {name: timeless(value) for name, value in result.items() if name != "created_at"}
    return [timeless(item) for item in result] if isinstance(result, list) else result


async def files_found(engine: LightRAG, question: str, param: QueryParam) -> set[str]:
    """Return the paths of all documents that any part of a result names."""
    data = (await engine.aquery_data(question, param))["data"]
    rows = [row for part in ("entities", "relationships", "chunks", "references") for row in data.get(part, ())]
    return {path for row in rows for path in row["file_path"].split("<SEP>")}


async def everything_seen(engine: LightRAG, question: str, fields: Mapping[str, Any]) -> str:
    """Return all that a caller can see of a question: data, context, prompt and answer, in every mode."""
    seen: list[str] = []
    for mode in MODES:
        seen.append(json.dumps(await engine.aquery_data(question, QueryParam(mode=mode, **fields))))
        for wanted in ({"only_need_context": True}, {"only_need_prompt": True}, {}):
            seen.append(str(await engine.aquery(question, QueryParam(mode=mode, **wanted, **fields))))
    return "\n".join(seen)
