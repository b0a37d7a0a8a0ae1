"""Cutting the text of a document into chunks; one file per strategy."""
