"""How a command ends: exit codes, and every error in one plain line.

0  done        1  failed        2  asked for wrongly        130  interrupted
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from lightrag.exceptions import InputError, LightRAGError

FAILED = 1
USAGE = 2
INTERRUPTED = 130


class ServerError(LightRAGError):
    """A server cannot be reached, or refuses.

    Attributes:
        status: HTTP status; 0 when there was no answer.
        code: Short name of the kind of error, as the server gives it.
        retry_after: When to try again, seconds from now.
    """

    def __init__(self, message: str, status: int = 0, code: str = "") -> None:
        """Say what happened.

        Args:
            message: In words.
            status: HTTP status.
            code: Short name.
        """
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = 5.0


class Interrupted(LightRAGError):
    """Somebody pressed Ctrl-C; the message says what is done and what is left."""


def exit_code(error: Exception) -> int:
    """Return the exit code that an error ends a command with."""
    if isinstance(error, Interrupted):
        return INTERRUPTED
    if isinstance(error, InputError) or (isinstance(error, ServerError) and error.status in (400, 422)):
        return USAGE
    return FAILED


def one_line(message: object) -> str:
    """Return a message without line breaks and control characters, which could be taken for more than a message."""
    return " ".join("".join(part if part.isprintable() else " " for part in str(message)).split())


def tell(message: object) -> None:
    """Write one line about what went wrong to standard error."""
    typer.echo(f"lightrag: {one_line(message)}", err=True)


class Group(TyperGroup):
    """A group whose help, and that of its commands, shows a value only after options that take one."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters of the group itself."""
        return _flags_without_value(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command of the group."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _flags_without_value(command.get_params(ctx))
        return command


def _flags_without_value(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        # Typer says <bool> there, as if something had to follow.
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class PlainGroup(Group):
    """The whole command: its errors are one plain line each, never a box or a traceback."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **options: Any) -> Any:
        """Run a command line, and end the process with its exit code."""
        standalone = options.pop("standalone_mode", True)
        try:
            outcome = super().main(args, prog_name, standalone_mode=False, **options)
        except typer.TyperException as error:
            outcome = _usage(error)
        except typer.Abort:
            tell("interrupted")
            outcome = INTERRUPTED
        except LightRAGError as error:
            tell(error)
            outcome = exit_code(error)
        code = outcome if isinstance(outcome, int) else 0
        if standalone:
            sys.exit(code)
        return code


def _usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    where = f" (see {context.command_path} --help)" if context is not None else ""
    tell(f"{error.format_message()}{where}")
    return int(error.exit_code)
