"""The embedded default: all five stores of a workspace in one SQLite file."""
