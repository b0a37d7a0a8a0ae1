#!/usr/bin/env bash
# Sets everything up and runs the checks and the tests. Safe to run as often as you like.
#
#   scripts/test.sh                      style, types, layers, the web UI in Chromium, then all tests on two processes
#   scripts/test.sh tests/query -k gate  only pytest, with these arguments
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p;}' "$root/scripts/test.sh"
    exit 0
fi
"$root/scripts/bootstrap.sh" dev
python="$root/.venv/bin/python"

if (($#)); then
    exec "$python" -m pytest "$@"
fi

# The tests run even when a check has failed, so that one run shows everything.
status=0
"$root/scripts/lint.sh" || status=1
"$root/scripts/webui.sh" test || status=1
printf '\n==> pytest\n'
"$python" -m pytest -n 2 || status=1
exit "$status"
