"""Rerankers: the table of bindings and the functions that users import."""

from __future__ import annotations

from lightrag.rerank.http import ali_rerank, cohere_rerank, jina_rerank

__all__ = ["ali_rerank", "cohere_rerank", "jina_rerank"]
