"""The demo's command line; it needs no package, so that ``--help`` works before anything is set up.

python -m demo.arguments --help
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from demo.settings import DEFAULT_PORT


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/demo.sh",
        description="Read the demo corpus, answer questions about it, and leave a server running. No key, no network.",
    )
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run read")
    parser.add_argument(
        "--check",
        action="store_true",
        help="fail unless answers and server are as they should be, and end the server",
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port of the server; the next free one is taken")
    parser.add_argument("--no-server", action="store_true", help="only answer the questions")
    parser.add_argument("--stop", action="store_true", help="end the server that an earlier run left, and do no more")
    return parser.parse_args(argv)


if __name__ == "__main__":
    parse_arguments()
