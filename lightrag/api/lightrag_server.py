"""The command ``lightrag-server``."""

from __future__ import annotations

import logging
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from getpass import getpass

from fastapi import FastAPI

from lightrag.api.app import create_app
from lightrag.api.arguments import ServerArguments, parse_arguments
from lightrag.api.logs import configure_logging
from lightrag.exceptions import LightRAGError
from lightrag.settings_api import ApiSettings, unknown_variables, variables_without_effect

__all__ = ["create_app", "get_application", "main", "run", "serve"]

logger = logging.getLogger("lightrag.api")


def get_application(args: Namespace | None = None) -> FastAPI:
    """Return the server as an ASGI application, as :func:`create_app` does: a factory for other ASGI servers."""
    return create_app(args)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stopped.

    Args:
        argv: Arguments; those of the process when not given.

    Returns:
        Exit code: 0 after a stop on request, 1 when the server could not start.
    """
    try:
        arguments = parse_arguments(argv)
        if arguments.hash_password:
            return _print_hash()
        configure_logging(arguments.settings)
        return serve(arguments)
    except (LightRAGError, OSError) as error:
        print(f"lightrag-server: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


def serve(arguments: ServerArguments) -> int:
    """Serve with given settings until stopped.

    Returns:
        Exit code: 0 after a stop on request, 1 when the address could not be taken or the engine not opened.

    Raises:
        InputError: A setting cannot be used, or the server would not be safe.
    """
    settings = arguments.settings
    for name in arguments.ignored:
        logger.warning("%s has no effect", name)
    for name, reason in variables_without_effect().items():
        logger.warning("%s has no effect: %s", name, reason)
    for name, near in unknown_variables().items():
        logger.warning("%s is not a setting%s", name, f"; did you mean {near}?" if near else "")
    return run(create_app(settings, engine_fields=arguments.engine_fields), settings)


def run(app: FastAPI, settings: ApiSettings) -> int:
    """Serve an application until stopped.

    Returns:
        As :func:`serve`.
    """
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=settings.shutdown_seconds,
            root_path=settings.api_prefix.rstrip("/"),
            ssl_certfile=settings.ssl_certfile or None if settings.ssl else None,
            ssl_keyfile=settings.ssl_keyfile or None if settings.ssl else None,
        )
    )
    logger.info("serving at %s", _address(settings))
    # Uvicorn leaves with codes of its own where the address is taken or the engine does not open.
    with suppress(SystemExit):
        server.run()
    return 0 if server.started else 1


def _address(settings: ApiSettings) -> str:
    scheme = "https" if settings.ssl else "http"
    host = "127.0.0.1" if settings.host == "0.0.0.0" else settings.host
    return f"{scheme}://{host}:{settings.port}{settings.api_prefix}"


def _print_hash() -> int:
    from lightrag.api.accounts import hash_password

    password = getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    print(hash_password(password))
    return 0


if __name__ == "__main__":
    sys.exit(main())
