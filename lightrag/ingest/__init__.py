"""From submitted documents to a searchable graph: enqueue, parse, chunk, extract, merge, persist, delete."""
