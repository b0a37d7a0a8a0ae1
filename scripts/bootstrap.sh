#!/usr/bin/env bash
# Sets up the environment: finds a Python, makes .venv, installs the project into it. Sourced or called by the
# other scripts; run again it finds everything there and does nothing, without network.
#
#   scripts/bootstrap.sh [extras]        # extras as in pyproject.toml, "dev" when not given
#
#   PYTHON=python3.12 scripts/bootstrap.sh    chooses the interpreter that makes .venv
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
extras="${1:-dev}"

say() { printf '\n==> %s\n' "$*" >&2; }

stop() {
    printf '\nSet-up stopped: %s\n' "$1" >&2
    shift
    if (($#)); then printf '  %s\n' "$@" >&2; fi
    exit 1
}

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null 2>&1 && is_new_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    stop "no Python 3.11 or newer was found (looked for ${PYTHON:+$PYTHON, }python3, python3.13, python3.12, python3.11)." \
        "Debian, Ubuntu:  sudo apt-get install python3 python3-venv" \
        "Fedora:          sudo dnf install python3" \
        "macOS:           brew install python" \
        "Elsewhere:       https://www.python.org/downloads/" \
        "If it is there under another name:  PYTHON=/path/to/python scripts/bootstrap.sh"
}

make_venv() {
    if [[ -x "$venv/bin/python" ]] && is_new_enough "$venv/bin/python"; then
        "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >&2
        return
    fi
    local python version
    python="$(find_python)"
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version="$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
        stop "$python has no venv module, with which an isolated environment is made." \
            "Debian, Ubuntu:  sudo apt-get install python$version-venv" \
            "Or choose another interpreter:  PYTHON=/path/to/python scripts/bootstrap.sh"
    fi
    say "Making .venv with $("$python" --version)"
    "$python" -m venv --clear "$venv" || stop "the environment could not be made in $venv." \
        "Is there room on the disk, and may you write there?"
}

fingerprint() {
    "$venv/bin/python" -c 'import hashlib, pathlib, sys
print(hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes() + sys.argv[1].encode()).hexdigest())' "$root/pyproject.toml"
}

install_project() {
    local wanted stamp
    wanted="$(fingerprint)"
    # "dev" brings everything that "demo" does.
    for stamp in "$venv/.installed-$extras" "$venv/.installed-dev"; do
        if [[ -f "$stamp" && "$(<"$stamp")" == "$wanted" ]]; then return; fi
    done
    say "Installing the project with extras [$extras] into .venv (once; about a minute with a fast connection)"
    "$venv/bin/python" -m pip install --disable-pip-version-check --editable "$root[$extras]" >&2 ||
        stop "packages could not be installed; the lines above say which." \
            "The first set-up needs a package index: check the connection or the proxy, then run the same command again." \
            "What was fetched already is kept. Once set up, no network is needed."
    printf '%s\n' "$wanted" >"$venv/.installed-$extras"
}

make_venv
install_project
