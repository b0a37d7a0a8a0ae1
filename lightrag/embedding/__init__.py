"""Embedding models: the table of bindings and the decorator for functions of one's own."""
