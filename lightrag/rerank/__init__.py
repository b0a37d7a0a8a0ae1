"""Rerankers: the table of bindings and the functions that users import."""

from __future__ import annotations

from lightrag.rerank.http import cohere_rerank, jina_rerank

__all__ = ["cohere_rerank", "jina_rerank"]
