"""The knowledge graph: records, merging, summaries, rebuilding and exploring."""
