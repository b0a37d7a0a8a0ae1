"""Write env.example from the classes of settings: every setting with its name, default and description.

python scripts/make_env_example.py            # writes the file
python scripts/make_env_example.py --check    # fails if the file is not what would be written
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from lightrag.settings import Settings
from lightrag.settings_api import ApiSettings

KINDS: tuple[type[BaseSettings], ...] = (Settings, ApiSettings)

TARGET = Path(__file__).resolve().parent.parent / "env.example"

HEADER = """\
# Settings of the engine and its server. Made by scripts/make_env_example.py from lightrag/settings.py
# and lightrag/settings_api.py; do not edit by hand.
#
# Copy the file to .env in the folder the program runs in, and take the # off the lines you change. What the environment
# says wins over .env; what is given to LightRAG(...) wins over both. Every line below shows the default.
"""


def environment_names(name: str, field: FieldInfo) -> list[str]:
    """Return the variables a setting is read from, the one to use first."""
    if not isinstance(field.validation_alias, AliasChoices):
        return [name.upper()]
    names = [str(choice).upper() for choice in field.validation_alias.choices]
    # The field's own name is the first choice only so that it can be given to the constructor.
    return names[1:] + names[:1]


def shown_default(field: FieldInfo) -> str:
    """Return the default as it is written in a file of settings."""
    value: Any = field.get_default(call_default_factory=True)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return str(value)


def groups() -> list[tuple[type[BaseSettings], dict[str, FieldInfo]]]:
    """Return the classes that the settings are made of, in their own order, with their fields."""
    return [
        (base, {name: kind.model_fields[name] for name in base.__annotations__ if name in kind.model_fields})
        for kind in KINDS
        for base in kind.__bases__
        if issubclass(base, BaseSettings)
    ]


def render() -> str:
    """Return the text of the file."""
    lines = [HEADER]
    for group, fields in groups():
        lines.append(f"# --- {(group.__doc__ or group.__name__).strip().splitlines()[0]}\n")
        for name, field in fields.items():
            first, *others = environment_names(name, field)
            also = f" Also read: {', '.join(others)}." if others else ""
            lines.append(f"# {field.description}{also}\n#{first}={shown_default(field)}\n")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Write or check."""
    wanted = render()
    if "--check" in arguments:
        same = TARGET.is_file() and TARGET.read_text(encoding="utf-8") == wanted
        if not same:
            print("env.example is not up to date: run scripts/make_env_example.py", file=sys.stderr)
        return 0 if same else 1
    TARGET.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
