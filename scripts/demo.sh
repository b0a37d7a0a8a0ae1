#!/usr/bin/env bash
# Sets everything up, reads the demo corpus, answers questions about it, and leaves a server running over the same
# documents; no key and no network needed once set up. A second run finds the documents, asks, and replaces the server.
#
#   scripts/demo.sh            --fresh reads the corpus anew; --stop ends the server; --help shows all options
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

case " $* " in
*" --help "* | *" -h "*)
    for python in "$root/.venv/bin/python" python3 python; do
        if command -v "$python" >/dev/null 2>&1; then exec "$python" -m demo.arguments --help; fi
    done
    ;;
*" --stop "*)
    if [[ ! -x "$root/.venv/bin/python" ]]; then
        printf 'There is no server to stop.\n'
        exit 0
    fi
    ;;
esac
"$root/scripts/bootstrap.sh" demo

case " $* " in
*" --stop "* | *" --no-server "*) ;;
*)
    status=0
    "$root/scripts/webui.sh" || status=$?
    # Without Node there is no web UI, and that is said there; the server shows the rest.
    if ((status != 0 && status != 3)); then
        printf 'The web UI could not be built: the lines above say why. The server works without it.\n' >&2
        if [[ " $* " == *" --check "* ]]; then exit 1; fi
    fi
    ;;
esac
exec "$root/.venv/bin/python" -m demo "$@"
