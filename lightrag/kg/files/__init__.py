"""Storages in files: the file names and formats of LightRAG's default storages, and files of our own beside them."""
