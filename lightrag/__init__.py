"""LightRAG-compatible graph-RAG engine whose queries can be limited by dates, tags and sources."""
