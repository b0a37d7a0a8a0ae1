#!/usr/bin/env bash
# Installs clients that others wrote into .clients, and lets them work against a server: two MCP servers for LightRAG, a
# chat page and a command line for Ollama, Ollama's library for JavaScript where Node is there.
#
#   scripts/clients.sh [arguments for pytest]
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
clients="$root/.clients"
packages=(lightrag-mcp==0.1.1 mcp-lightrag==0.2.2 'mcp<2' ollama-chat==1.6.0 llm==0.36 llm-ollama==0.19.1)

"$root/scripts/bootstrap.sh" dev
if [[ "$(cat "$clients/.stamp" 2>/dev/null)" != "${packages[*]}" ]]; then
    "$root/.venv/bin/python" -m venv --clear "$clients"
    "$clients/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
    if command -v npm >/dev/null 2>&1; then
        npm install --silent --no-audit --no-fund --prefix "$clients/js" ollama@0.6
    fi
    printf '%s\n' "${packages[*]}" >"$clients/.stamp"
fi
cd "$root"
exec "$root/.venv/bin/python" -m pytest -rs tests/api/test_clients.py "$@"
