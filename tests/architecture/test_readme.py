"""The README tells the truth: its example runs, its commands and links exist, its table is the registry."""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lightrag import DocumentMetadata, LightRAG, QueryParam
from lightrag.embedding.offline import offline_embedding
from lightrag.kg.registry import BACKENDS
from lightrag.llm.offline import offline_complete
from lightrag.query.plan import effective_filter
from lightrag.query_filters import document_matches_filter
from lightrag.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *(ROOT / "design").rglob("*.md")])


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_python_example_runs_offline(tmp_path: Path) -> None:
    example = blocks("python")[0]
    proxies = {
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "ALL_PROXY": "http://127.0.0.1:9",
    }
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        env={**os.environ, **proxies},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "eleven minutes" in done.stdout
    assert re.search(r"^- \[\d+\] letters/1926-03-09\.txt$", done.stdout, re.MULTILINE), done.stdout


async def run_filter_example(folder: Path) -> tuple[QueryParam, str]:
    """Run the second example on an engine with one more document; return its parameters and what it prints."""
    rag = LightRAG(
        working_dir=str(folder),
        llm_model_func=offline_complete,
        llm_model_name="offline",
        embedding_func=offline_embedding(),
    )
    await rag.initialize_storages()
    try:
        await rag.ainsert("A letter on harbour dues.", file_paths="letter.txt", metadata={"tags": ["type:letter"]})
        lines = "".join(f"    {line}\n" for line in blocks("python")[1].splitlines())
        names: dict[str, Any] = {"rag": rag, "QueryParam": QueryParam}
        exec(f"async def example():\n{lines}    return in_force\n", names)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            param = await names["example"]()
        return param, output.getvalue()
    finally:
        await rag.finalize_storages()


async def test_filter_example_does_what_the_text_says(tmp_path: Path) -> None:
    param, printed = await run_filter_example(tmp_path)
    counted, answer = printed.split("\n", 1)
    assert counted == "1 of 3: ['acts/1928.md']"
    assert "acts/1928.md" in answer
    assert "1903" not in answer
    assert "letter" not in answer
    wanted = effective_filter(load_settings(), param)
    assert wanted is not None
    for start, end, tag, accepted in (
        ("1928-04-01T00:00:00Z", None, "type:act", True),
        ("1928-04-01T00:00:00Z", "1930-06-14T00:00:00Z", "type:act", False),
        ("1928-04-01T00:00:00Z", None, "type:letter", False),
        (None, None, "type:act", False),
    ):
        metadata = DocumentMetadata.model_validate({"start_date": start, "end_date": end, "tags": [tag]}).to_storage()
        assert document_matches_filter(metadata, wanted) is accepted


def test_shell_example_finds_the_act_in_force(tmp_path: Path) -> None:
    (example,) = (block for block in blocks("bash") if "lightrag ingest" in block)
    shutil.copytree(ROOT / "demo" / "corpus", tmp_path / "demo" / "corpus")
    printed = []
    for command in re.findall(r"^lightrag (.+)$", example, re.MULTILINE):
        arguments = [sys.executable, "-m", "lightrag.cli", *shlex.split(command)]
        done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        printed.append(done.stdout)
    *ingested, _, preview, answer, graph = printed
    assert ["1 processed" in told for told in ingested] == [True, True]
    assert "1 of 2 documents" in preview
    assert "act-1928-harbour-and-bridge.md" in preview
    assert "threepence" in answer
    assert "1903" not in answer
    assert "Velmouth Harbour Commissioners" in graph


@pytest.mark.parametrize("page", PAGES)
def test_scripts_exist_and_run(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in set(re.findall(r"\b(?:scripts/[\w/]+\.(?:sh|py)|\.ci/\w+)", text)):
        assert (ROOT / name).is_file(), f"{page} names {name}, which does not exist"
        assert name.endswith(".py") or os.access(ROOT / name, os.X_OK), f"{name} is not executable"
    for module in set(re.findall(r"python -m (demo\.\w+)", text)):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("design/") and page.count("/") == 1])
def test_design_page_is_linked(page: str) -> None:
    overview = (ROOT / "design" / "overview.md").read_text(encoding="utf-8")
    linked = f"]({page})" in README or f"]({page.removeprefix('design/')})" in overview
    assert linked, f"link {page} from README.md or design/overview.md"


def test_commands_of_quick_start_are_scripts() -> None:
    commands = [line.split("#")[0].split() for line in blocks("bash")[0].splitlines()]
    assert [command[0] for command in commands] == ["scripts/demo.sh", "scripts/test.sh"]


def test_table_of_storages_is_the_registry() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ?(?:`(\w+)`)? ?\|$", README, re.MULTILINE)
    assert {(name, kind, extra) for name, kind, extra in rows} == {
        (name, backend.kind, backend.extra) for name, backend in BACKENDS.items()
    }


def test_named_settings_exist() -> None:
    example = (ROOT / "env.example").read_text(encoding="utf-8")
    in_example = re.findall(r"^([A-Z_]+)=", "".join(blocks("bash")), re.MULTILINE)
    assert "LLM_BINDING" in in_example
    # Of the names of one setting, the example shows the last and tells the others in its comment.
    for name in in_example:
        assert f"#{name}=" in example or re.search(rf"Also read:.*\b{name}\b", example), name
    for name in set(re.findall(r"`(LIGHTRAG_[A-Z_]+)`", README)):
        assert f"#{name}=" in example, name
