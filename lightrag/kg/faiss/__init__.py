"""Vectors searched by a FAISS index, kept in a workspace's folder beside the file storages."""
