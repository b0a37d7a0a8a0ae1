#!/usr/bin/env bash
# Sets everything up, reads the demo corpus and answers five questions about it; no key and no network needed once set up.
# A second run finds the documents there and only asks.
#
#   scripts/demo.sh            --fresh reads the corpus anew; --help shows all options
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
"$root/scripts/bootstrap.sh" demo
exec "$root/.venv/bin/python" -m demo.run "$@"
