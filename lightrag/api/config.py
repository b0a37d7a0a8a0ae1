"""Import path that users already have: the arguments of the server, for programs that make it themselves."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from lightrag.api.arguments import FLAGS, parse_arguments
from lightrag.settings import load_settings


def parse_args(argv: Sequence[str] | None = None) -> Namespace:
    """Return what command line, environment and ``.env`` say, for :func:`lightrag.api.lightrag_server.create_app`.

    Args:
        argv: Arguments; those of the process when not given.

    Raises:
        InputError: A value cannot be used.
    """
    arguments = parse_arguments(argv)
    engine = load_settings(**arguments.engine_fields)
    values = {
        flag.destination: getattr(arguments.settings, flag.field, getattr(engine, flag.field, None))
        for flag in FLAGS
        if flag.field
    }
    return Namespace(**values)
