"""Turning files into text; one file per kind."""
