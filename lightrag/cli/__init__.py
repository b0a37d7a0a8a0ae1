"""The ``lightrag`` command: a corpus in a folder, or behind a server, from a shell."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command of the process's arguments; the entry point of the console script.

    Returns:
        Exit code, unless the command has ended the process itself.
    """
    # A console script is installed with the core, which does not bring what the command is built with.
    from importlib.util import find_spec

    missing = next((package for package in ("typer", "rich") if find_spec(package) is None), None)
    if missing is not None:
        from lightrag.exceptions import MissingDependencyError

        print(f"lightrag: {MissingDependencyError(missing, 'cli', 'The command lightrag')}", file=sys.stderr)
        return 1
    from lightrag.cli.app import run_command

    return run_command()
