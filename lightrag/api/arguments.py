"""The command line of ``lightrag-server``. What is given there wins over the environment."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from lightrag.settings import Settings
from lightrag.settings_api import ApiSettings, load_api_settings


class Flag(NamedTuple):
    """A flag.

    Attributes:
        name: With its dashes.
        field: Field of the settings or of the engine that it sets; ``""`` for one that is only understood.
        kind: Type of its value; ``bool`` for a flag without value.
        help: One line.
    """

    name: str
    field: str
    kind: type
    help: str

    @property
    def destination(self) -> str:
        """Its name among parsed arguments."""
        return self.name.removeprefix("--").replace("-", "_")


FLAGS: tuple[Flag, ...] = (
    Flag("--host", "host", str, "address to listen on"),
    Flag("--port", "port", int, "port to listen on"),
    Flag("--working-dir", "working_dir", str, "folder of the embedded stores"),
    Flag("--input-dir", "input_dir", str, "folder of uploads"),
    Flag("--workspace", "workspace", str, "name that isolates a corpus"),
    Flag("--key", "lightrag_api_key", str, "API key that requests must carry"),
    Flag("--ssl", "ssl", bool, "serve HTTPS"),
    Flag("--ssl-certfile", "ssl_certfile", str, "certificate, PEM"),
    Flag("--ssl-keyfile", "ssl_keyfile", str, "private key of the certificate, PEM"),
    Flag("--api-prefix", "api_prefix", str, "path under which a reverse proxy shows the server"),
    Flag("--default-ui", "lightrag_default_ui", str, "where / leads: webui or workspace"),
    Flag("--llm-binding", "llm_binding", str, "binding of the language model"),
    Flag("--embedding-binding", "embedding_binding", str, "binding of the embedding model"),
    Flag("--rerank-binding", "rerank_binding", str, "binding of the reranker"),
    Flag("--simulated-model-name", "ollama_emulating_model_name", str, "name of the model on the Ollama routes"),
    Flag("--simulated-model-tag", "ollama_emulating_model_tag", str, "tag of that model"),
    Flag("--max-async", "llm_model_max_async", int, "language model calls at a time"),
    Flag("--summary-max-tokens", "summary_max_tokens", int, "tokens from which a description is summarised"),
    Flag("--summary-context-size", "summary_context_size", int, "tokens of fragments in one summary call"),
    Flag("--summary-length-recommended", "summary_length_recommended", int, "tokens a summary should have"),
    Flag("--log-level", "log_level", str, "least level that is logged"),
    Flag("--log-format", "log_format", str, "text or json"),
    Flag("--verbose", "verbose", bool, "log everything: short for --log-level DEBUG"),
    Flag("--timeout", "", int, "understood for compatibility; LLM_TIMEOUT limits model calls"),
    Flag("--workers", "", int, "understood for compatibility; there is one process"),
)


@dataclass(frozen=True)
class ServerArguments:
    """What a server is started with.

    Attributes:
        settings: Settings of the server.
        engine_fields: Fields of the engine that were given on the command line.
        ignored: Flags that were given and do nothing.
        hash_password: Only make a hash, and end.
    """

    settings: ApiSettings
    engine_fields: dict[str, Any]
    ignored: tuple[str, ...] = ()
    hash_password: bool = False


def parse_arguments(argv: Sequence[str] | None = None) -> ServerArguments:
    """Read the command line and the environment.

    Raises:
        InputError: A value cannot be used.
    """
    parser = argparse.ArgumentParser(
        prog="lightrag-server",
        description="Serve a corpus over HTTP. In brackets: the variable that says the same, in the environment or "
        ".env, and the default.",
        epilog="Everything else is set by the environment or .env; env.example lists all of it.",
    )
    for flag in FLAGS:
        if flag.kind is bool:
            parser.add_argument(flag.name, action="store_true", default=None, help=_help(flag))
        else:
            parser.add_argument(flag.name, type=flag.kind, default=None, help=_help(flag))
    parser.add_argument(
        "--hash-password", action="store_true", help="ask for a password, print its hash for AUTH_ACCOUNTS, and end"
    )
    found = vars(parser.parse_args(argv))
    given = {flag: found[flag.destination] for flag in FLAGS}
    fields = {flag.field: value for flag, value in given.items() if value is not None and flag.field}
    if fields.pop("verbose", False):
        fields.setdefault("log_level", "DEBUG")
    own = {name: value for name, value in fields.items() if name in ApiSettings.model_fields}
    return ServerArguments(
        settings=load_api_settings(**own),
        engine_fields={name: value for name, value in fields.items() if name not in own},
        ignored=tuple(flag.name for flag, value in given.items() if value is not None and not flag.field),
        hash_password=found["hash_password"],
    )


def given_by_name(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what arguments say, by field; they may be named like flags or like fields."""
    fields = {flag.destination: flag.field for flag in FLAGS if flag.field}
    return {fields.get(name, name): value for name, value in vars(arguments).items() if value is not None}


def _field_of(flag: Flag) -> FieldInfo | None:
    return ApiSettings.model_fields.get(flag.field) or Settings.model_fields.get(flag.field)


def _help(flag: Flag) -> str:
    """Return the help of a flag with the variable that says the same, and its default."""
    field = _field_of(flag)
    if field is None:
        return flag.help
    aliases = field.validation_alias
    # The field's own name is the first choice only so that it can be given to the constructor.
    variable = str(aliases.choices[1]) if isinstance(aliases, AliasChoices) else flag.field.upper()
    value = field.get_default(call_default_factory=True)
    shown = ("on" if value else "off") if isinstance(value, bool) else str(value) or "none"
    return f"{flag.help} [{variable.upper()}; {shown}]".replace("%", "%%")
