"""A process is killed while it writes; whatever it had acknowledged is there, and nothing is there by halves."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from tests.conformance.crash_child import HUBS, Corpus, vector
from tests.conformance.families import Family, Workspace

ROOT = Path(__file__).resolve().parents[2]
LIVES = 6


def killed_at(moment: float, *arguments: str) -> dict[str, set[int]]:
    """Run the child, kill it some seconds after its first word, and return the numbers that it said, by word."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        first = child.stdout.readline()
        if not first:
            pytest.fail(child.stderr.read().decode())
        time.sleep(moment)
        child.send_signal(signal.SIGKILL)
        said = (first + child.stdout.read()).decode().splitlines()
    assert child.returncode == -signal.SIGKILL
    numbers: dict[str, set[int]] = {"wrote": set(), "deleting": set(), "deleted": set()}
    for line in said:
        word, number = line.split()
        numbers[word].add(int(number))
    return numbers


async def parts_of(corpus: Corpus, number: int) -> list[bool]:
    """Whether each store has its part of a document."""
    name, hub = f"n{number}", f"hub{number % HUBS}"
    chunks = await corpus.kv.get_by_ids([f"{name}-{part}" for part in range(3)])
    vectors = await corpus.vectors.get_vectors_by_ids([name])
    if name in vectors:
        expected = vector(number) / np.linalg.norm(vector(number))
        assert vectors[name] == pytest.approx(expected.tolist(), abs=1e-6)
    return [
        all(chunks),
        any(chunks),
        await corpus.graph.get_node(name) == {"n": number},
        await corpus.graph.get_edge(name, hub) == {"n": number},
        bool(vectors),
        len(await corpus.evidence.of_documents([name])) == 3,
        bool(await corpus.evidence.of_objects(ObjectKind.RELATION, [relation_key(hub, name)])),
        await corpus.status.get_by_id(name) is not None,
    ]


async def check(corpus: Corpus, said: dict[str, set[int]], last: int) -> set[int]:
    """Check every document up to a number; return those that are there."""
    present: set[int] = set()
    for number in range(last + 1):
        parts = await parts_of(corpus, number)
        assert len(set(parts)) == 1, f"document {number} is there by halves: {parts}"
        if parts[0]:
            present.add(number)
    assert said["wrote"] - said["deleting"] <= present
    assert not said["deleted"] & present
    return present


async def check_agreement(corpus: Corpus, present: set[int]) -> None:
    labels = await corpus.graph.get_all_labels()
    assert sorted(labels) == sorted(await corpus.vectors.scan_ids(limit=1_000_000))
    assert await corpus.vectors.count() == len(labels)
    assert {label for label in labels if not label.startswith("hub")} == {f"n{number}" for number in present}
    degrees = await corpus.graph.node_degrees_batch(labels)
    edges = await corpus.graph.get_nodes_edges_batch(labels)
    assert degrees == {label: len(edges[label]) for label in labels}
    contents = await corpus.vectors.get_by_ids(labels)
    nodes = await corpus.graph.get_nodes_batch(labels)
    for label, row in zip(labels, contents, strict=True):
        # A hub's node and its vector were last written by the same document.
        assert row is not None
        assert row["content"] == f"{label} {nodes[label].get('n', nodes[label].get('last'))}"
    assert len(await corpus.vectors.query("", 1_000_000, vector(1))) == len(labels)


async def live_and_die(family: Family, folder: Path, child: list[str]) -> None:
    moments = random.Random(4)
    said: dict[str, set[int]] = {"wrote": set(), "deleting": set(), "deleted": set()}
    last = -1
    for _ in range(LIVES):
        heard = killed_at(moments.uniform(0.0, 0.25), *child, family.name, str(folder), str(last + 1))
        for word, numbers in heard.items():
            said[word] |= numbers
        # Those that were on their way when the process died.
        last = max(*said["wrote"], *said["deleting"], last) + 8
        workspace = Workspace(family, folder)
        corpus = Corpus(workspace)
        await corpus.open()
        await check_agreement(corpus, await check(corpus, said, last))
        await workspace.close()
    assert len(said["wrote"]) > 2 * LIVES


async def test_killed_while_writing(family: Family, tmp_path: Path) -> None:
    if not (family.transactional and family.durable_at_once):
        pytest.skip("a write is durable only after index_done_callback")
    await live_and_die(family, tmp_path, ["-m", "tests.conformance.crash_child"])
