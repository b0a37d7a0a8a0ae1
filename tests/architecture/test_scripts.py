"""The set-up scripts install once, say in plain words what is missing, and pass arguments on."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*ROOT.glob("scripts/*.sh"), ROOT / ".ci" / "run"])

# Stands in for the environment's Python: notes installations, tests and checks instead of running them.
STAND_IN = """#!/bin/bash
case "$*" in
    *"pip install"*|*"-m pytest"*|*"-m ruff"*|*"-m mypy"*|*importlinter*|*"-m demo"*) echo "$*" >>"{log}" ;;
    *) exec "{python}" "$@" ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The scripts beside an environment that only takes notes, in ``calls``."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("bench"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # The web UI has checks of its own, which are no part of what is looked at here.
    (tmp_path / "scripts" / "webui.sh").write_text("#!/usr/bin/env bash\nset -euo pipefail\n", encoding="utf-8")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(STAND_IN.format(log=tmp_path / "calls", python=sys.executable), encoding="utf-8")
    python.chmod(0o755)
    return tmp_path


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def calls(clone: Path) -> list[str]:
    """Return what was called since the last look."""
    log = clone / "calls"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script_can_be_run(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert run("bash", "-n", script).returncode == 0
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")


def test_installs_once_and_again_after_a_change(clone: Path) -> None:
    bootstrap = clone / "scripts" / "bootstrap.sh"
    assert run(bootstrap, "demo").returncode == 0
    (call,) = calls(clone)
    assert call.endswith(f"--editable {clone}[demo]")
    assert run(bootstrap, "demo").returncode == 0
    assert calls(clone) == []
    with (clone / "pyproject.toml").open("a", encoding="utf-8") as project:
        project.write("# changed\n")
    assert run(bootstrap, "demo").returncode == 0
    assert len(calls(clone)) == 1


def test_development_set_up_serves_the_demo(clone: Path) -> None:
    assert run(clone / "scripts" / "bootstrap.sh").returncode == 0
    assert calls(clone)[0].endswith("[dev]")
    assert run(clone / "scripts" / "demo.sh", "--check").returncode == 0
    assert calls(clone) == ["-m demo --check"]


@pytest.mark.parametrize(
    ("status", "arguments", "code"), [(3, ["--check"], 0), (1, ["--check"], 1), (1, [], 0), (1, ["--stop"], 0)]
)
def test_demo_without_a_web_ui(clone: Path, status: int, arguments: list[str], code: int) -> None:
    """Where Node is missing (3) the demo goes on; a build that breaks off (1) fails the check alone."""
    run(clone / "scripts" / "bootstrap.sh")
    calls(clone)
    (clone / "scripts" / "webui.sh").write_text(f"#!/usr/bin/env bash\nexit {status}\n", encoding="utf-8")
    done = run(clone / "scripts" / "demo.sh", *arguments)
    assert done.returncode == code
    assert calls(clone) == ([" ".join(["-m demo", *arguments])] if code == 0 else [])
    assert ("could not be built" in done.stderr) is (status == 1 and arguments != ["--stop"])


def test_arguments_go_to_pytest_alone(clone: Path) -> None:
    run(clone / "scripts" / "bootstrap.sh")
    calls(clone)
    assert run(clone / "scripts" / "test.sh", "tests/query", "-k", "two words").returncode == 0
    assert calls(clone) == ["-m pytest tests/query -k two words"]


def test_without_arguments_everything_runs(clone: Path) -> None:
    run(clone / "scripts" / "bootstrap.sh")
    calls(clone)
    assert run(clone / "scripts" / "test.sh").returncode == 0
    kinds = [next(word for word in ("ruff", "mypy", "importlinter", "pytest") if word in call) for call in calls(clone)]
    assert kinds == ["ruff", "ruff", "mypy", "importlinter", "pytest"]


def test_a_failing_check_fails_but_the_tests_still_run(clone: Path) -> None:
    run(clone / "scripts" / "bootstrap.sh")
    calls(clone)
    python = clone / ".venv" / "bin" / "python"
    failing = python.read_text(encoding="utf-8").replace('case "$*" in', 'case "$*" in\n    *"-m mypy"*) exit 1 ;;')
    python.write_text(failing, encoding="utf-8")
    done = run(clone / "scripts" / "test.sh")
    assert done.returncode == 1
    assert "mypy" in done.stderr
    assert any("-m pytest" in call for call in calls(clone))


@pytest.fixture
def bare(clone: Path) -> Path:
    """A clone on a machine that has a shell and nothing else."""
    shutil.rmtree(clone / ".venv")
    (clone / "bin").mkdir()
    for name in ("bash", "dirname", "env", "cat"):
        found = shutil.which(name)
        assert found is not None
        (clone / "bin" / name).symlink_to(found)
    return clone


def test_missing_python_is_told_in_plain_words(bare: Path) -> None:
    done = run(bare / "scripts" / "bootstrap.sh", PATH=str(bare / "bin"), PYTHON="")
    assert done.returncode == 1
    assert "no Python 3.11 or newer was found" in done.stderr
    assert "apt-get install python3" in done.stderr


def test_missing_venv_module_is_told_in_plain_words(bare: Path) -> None:
    python = bare / "bin" / "python3"
    python.write_text(
        f'#!/bin/bash\ncase "$*" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    done = run(bare / "scripts" / "bootstrap.sh", PATH=str(bare / "bin"), PYTHON="")
    assert done.returncode == 1
    assert f"python{sys.version_info.major}.{sys.version_info.minor}-venv" in done.stderr


def test_failed_installation_is_told_in_plain_words(clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    python.write_text(
        python.read_text(encoding="utf-8").replace('case "$*" in', 'case "$*" in\n    *"pip install"*) exit 1 ;;'),
        encoding="utf-8",
    )
    done = run(clone / "scripts" / "demo.sh")
    assert done.returncode == 1
    assert "needs a package index" in done.stderr
    assert calls(clone) == []


CLOSING_LINE = "======= 2 failed, 5 passed in 3.21s ======="


@pytest.mark.parametrize(
    ("tests", "demo", "succeeds"),
    [(0, 0, True), (1, 0, False), (0, 1, False)],
    ids=["all well", "tests fail", "demo fails"],
)
def test_verdict_of_ci(tmp_path: Path, tests: int, demo: int, succeeds: bool) -> None:
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "scripts").mkdir()
    for name, output, status in (
        ("test.sh", f"a byte that is no text: \\x00\\n{CLOSING_LINE}\\n", tests),
        ("demo.sh", "answers of the demo\\n", demo),
    ):
        script = tmp_path / "scripts" / name
        script.write_text(f"#!/bin/bash\nprintf '{output}'\nexit {status}\n", encoding="utf-8")
        script.chmod(0o755)
    done = run(tmp_path / ".ci" / "run")
    assert (done.returncode == 0) is succeeds
    assert "answers of the demo" in done.stdout
    assert done.stdout.splitlines()[-1] == CLOSING_LINE


def test_ci_fails_when_pytest_was_cut_off(tmp_path: Path) -> None:
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "scripts").mkdir()
    for name in ("test.sh", "demo.sh"):
        script = tmp_path / "scripts" / name
        script.write_text("#!/bin/bash\n", encoding="utf-8")
        script.chmod(0o755)
    done = run(tmp_path / ".ci" / "run")
    assert done.returncode == 1
    assert "did not come to its end" in done.stdout
