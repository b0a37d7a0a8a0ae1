#!/usr/bin/env bash
# Checks style, types and layers. With --fix it first formats, and repairs what can be repaired.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
"$root/scripts/bootstrap.sh" dev
python="$root/.venv/bin/python"

if [[ "${1:-}" == "--fix" ]]; then
    "$python" -m ruff check --fix . || true
    "$python" -m ruff format .
    "$python" scripts/make_env_example.py
fi

# All of them run, so that one run shows everything.
failed=()
check() {
    local name="$1"
    shift
    printf '\n==> %s\n' "$name"
    "$python" "$@" || failed+=("$name")
}

check "ruff check" -m ruff check .
check "ruff format --check" -m ruff format --check .
check "mypy" -m mypy
check "lint-imports" -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-logo

if ((${#failed[@]})); then
    printf '\nNot clean: %s\n' "$(printf '%s; ' "${failed[@]}")" >&2
    printf 'scripts/lint.sh --fix repairs what it can.\n' >&2
    exit 1
fi
