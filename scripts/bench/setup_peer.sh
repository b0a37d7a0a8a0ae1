#!/usr/bin/env bash
# Installs the engine that the benchmark compares with into an environment of its own, from the package index.
# It is run beside ours, never read: no part of it may be opened to be copied.
#
#   bash scripts/bench/setup_peer.sh            # PYTHON=python3.12 bash … chooses another interpreter
set -euo pipefail

bench="$(cd "$(dirname "$0")" && pwd)"
venv="$bench/.work/peer-venv"
version="1.5.7"

if [[ ! -x "$venv/bin/python" ]]; then
    "${PYTHON:-python3}" -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "lightrag-hku==$version"

# Its default tokenizer would download a vocabulary; the workload passes its own, so two documents go in offline.
smoke="$(mktemp -d)"
trap 'rm -rf "$smoke"' EXIT
cd "$smoke"
"$venv/bin/python" "$bench/measure.py" ingest "$smoke/data" --docs 2
echo "The peer $version is ready: $venv/bin/python"
