"""All stores of a workspace, in memory.

``fake_stores(embedding_func)`` gives a :class:`~lightrag.stores.Stores` whose stores commit together and record every
read in ``stores.graph.fake.reads``.
"""

from __future__ import annotations

from typing import Any

from lightrag import constants
from lightrag.contracts.models import EmbeddingFunc
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS
from lightrag.stores import Stores
from tests.fakes.base import FakeWorkspace
from tests.fakes.evidence import FakeEvidenceStorage
from tests.fakes.graph import FakeGraphStorage
from tests.fakes.kv import FakeDocStatusStorage, FakeKVStorage
from tests.fakes.vector import FakeVectorStorage

__all__ = [
    "FakeDocStatusStorage",
    "FakeEvidenceStorage",
    "FakeGraphStorage",
    "FakeKVStorage",
    "FakeVectorStorage",
    "FakeWorkspace",
    "fake_stores",
]

_FILTER_FIELDS = set(FILTER_FIELD_DEFAULTS)
_META_FIELDS = {
    constants.VECTOR_ENTITIES: {"entity_name", "graph_node_id", *_FILTER_FIELDS},
    constants.VECTOR_RELATIONSHIPS: {"src_id", "tgt_id", *_FILTER_FIELDS},
    constants.VECTOR_CHUNKS: {"file_path", *_FILTER_FIELDS},
}


def fake_stores(embedding_func: EmbeddingFunc, *, similarity_floor: float = 0.2, workspace: str = "") -> Stores:
    """Return empty stores.

    Args:
        embedding_func: Embeds rows and queries that come without a vector.
        similarity_floor: ``cosine_better_than_threshold`` of the vector stores.
        workspace: Name of the workspace.
    """
    fake = FakeWorkspace()
    base: dict[str, Any] = {"workspace": workspace, "global_config": {}, "fake": fake}

    def vector(namespace: str) -> FakeVectorStorage:
        return FakeVectorStorage(
            namespace=namespace,
            embedding_func=embedding_func,
            cosine_better_than_threshold=similarity_floor,
            meta_fields=_META_FIELDS[namespace],
            **base,
        )

    return Stores(
        full_docs=FakeKVStorage(namespace=constants.KV_FULL_DOCS, **base),
        text_chunks=FakeKVStorage(namespace=constants.KV_TEXT_CHUNKS, **base),
        llm_response_cache=FakeKVStorage(namespace=constants.KV_LLM_RESPONSE_CACHE, **base),
        workspace_state=FakeKVStorage(namespace=constants.KV_WORKSPACE_STATE, **base),
        doc_status=FakeDocStatusStorage(namespace=constants.DOC_STATUS, **base),
        evidence=FakeEvidenceStorage(namespace=constants.EVIDENCE, **base),
        graph=FakeGraphStorage(namespace=constants.GRAPH_CHUNK_ENTITY_RELATION, **base),
        entities=vector(constants.VECTOR_ENTITIES),
        relationships=vector(constants.VECTOR_RELATIONSHIPS),
        chunks=vector(constants.VECTOR_CHUNKS),
    )
