#!/usr/bin/env bash
# Builds the web UI into lightrag/api/webui, from where the server shows it at /webui. Does nothing when it is up to date.
#
#   scripts/webui.sh          install what is missing, build
#   scripts/webui.sh check    types, lint, unit tests
#   scripts/webui.sh test     the same, and the end-to-end tests where Chromium is installed
#   scripts/webui.sh shots    take the screenshots of the README
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
web="$root/lightrag_webui"
built="$root/lightrag/api/webui"
task="${1:-build}"

if [[ "$task" == --help || "$task" == -h ]]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p;}' "$root/scripts/webui.sh"
    exit 0
fi

if ! command -v npm >/dev/null 2>&1 || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'; then
    printf 'The web UI needs Node 20.19 or newer with npm to be built; the server works without it.\n' >&2
    [[ "$task" == build ]] && exit 3
    exit 0
fi

hash=sha256sum
command -v sha256sum >/dev/null 2>&1 || hash="shasum -a 256" # as macOS has it
digest() { (cd "$web" && "$@" | $hash | cut -d' ' -f1); }
lock="$(digest cat package.json package-lock.json)"
sources="$(digest bash -c 'find src public scripts index.html package-lock.json vite.config.ts tsconfig.json -type f | LC_ALL=C sort | xargs '"$hash")"

if [[ "$(cat "$web/node_modules/.stamp" 2>/dev/null)" != "$lock" ]]; then
    (cd "$web" && npm ci --no-audit --no-fund)
    printf '%s\n' "$lock" >"$web/node_modules/.stamp"
fi

build() {
    [[ -f "$built/index.html" && "$(cat "$built/.stamp" 2>/dev/null)" == "$sources" ]] && return
    (cd "$web" && npm run --silent build -- --logLevel warn)
    printf '%s\n' "$sources" >"$built/.stamp"
}

browser() {
    [[ -n "${CHROMIUM:-}" ]] && return
    local name
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null 2>&1 && return
    done
    return 1
}

case "$task" in
build) build ;;
check | test)
    status=0
    for step in typecheck lint test; do
        printf '\n==> web UI: %s\n' "$step"
        (cd "$web" && npm run --silent "$step") || status=1
    done
    if [[ "$task" == check ]]; then
        exit "$status"
    elif browser; then
        printf '\n==> web UI: end to end\n'
        build && (cd "$web" && npm run --silent e2e) || status=1
    else
        printf '\nNo Chromium here: the end-to-end tests of the web UI are left out.\n'
    fi
    exit "$status"
    ;;
shots) build && (cd "$web" && npm run --silent screenshots) ;;
*)
    printf 'Unknown task %s; known are build, check, test, shots.\n' "$task" >&2
    exit 2
    ;;
esac
