"""The whole demo: read the corpus, answer questions, leave a server running over the same documents.

python -m demo             # or scripts/demo.sh, which sets everything up first
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence

from demo import run, server
from demo.arguments import parse_arguments
from demo.run import DemoError

_RUNNING = """
The server is running, with these documents: {address}

  Web UI    {address}/webui/{missing}
  Routes    {address}/docs
  A question about the acts of one day:
    curl -s {address}/query -H 'Content-Type: application/json' -d {question}

It goes on until  scripts/demo.sh --stop ; its log is {log}."""
_MISSING = "    (not built: it needs Node 20.19 or newer; this page says how)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo.

    Returns:
        Exit code: 0 done, 1 failed, 130 stopped by the user.
    """
    options = parse_arguments(argv)
    # Two processes should not write to one folder, and the running one may be of an older version.
    stopped = server.stop()
    if options.stop:
        print("The server is stopped." if stopped else "There is no server to stop.")
        return 0
    if stopped:
        later = "" if options.no_server or options.check else "; a new one is started at the end"
        print(f"The server of an earlier run is stopped{later}.\n")
    names = [name for name in ("fresh", "check") if getattr(options, name)]
    failed = run.main([f"--{name}" for name in names])
    if failed or options.no_server:
        return failed
    try:
        return check(options.port) if options.check else leave_running(options.port)
    except (DemoError, OSError) as error:
        print(f"\nThe demo stopped: {error}", file=sys.stderr)
        return 1


def leave_running(port: int) -> int:
    """Start the server and say where it is."""
    from lightrag.api.app import WEB_UI_FOLDER

    running = server.start(port)
    missing = "" if (WEB_UI_FOLDER / "index.html").is_file() else _MISSING
    print(_RUNNING.format(address=running.address, missing=missing, question=_question(), log=server.log_file()))
    return 0


def _question() -> str:
    item = json.loads((run.DEMO / "questions.json").read_text(encoding="utf-8"))["archive_filters"][0]
    return shlex.quote(json.dumps({"query": item["question"], **item["filter"]}))


def check(port: int) -> int:
    """Start the server, ask it over HTTP, and end it."""
    limited = json.loads((run.DEMO / "questions.json").read_text(encoding="utf-8"))["archive_filters"]
    running = server.start(port)
    try:
        wrong = server.check(running, len(run.read_corpus(run.DEMO / "corpus")), limited)
    finally:
        server.stop()
    if wrong:
        raise DemoError("the server is not as it should be:\n" + "\n".join(f"  {line}" for line in wrong))
    print(f"\nThe server answered {len(limited)} filtered questions over HTTP, and is stopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
