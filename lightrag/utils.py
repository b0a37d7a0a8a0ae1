"""Import path that users already have; the names live elsewhere."""

from lightrag.contracts.models import EmbeddingFunc
from lightrag.embedding.decorator import wrap_embedding_func_with_attrs
from lightrag.runtime.hashing import compute_args_hash, compute_mdhash_id
from lightrag.runtime.text import sanitize_text
from lightrag.runtime.tokens import TiktokenTokenizer, Tokenizer

__all__ = [
    "EmbeddingFunc",
    "TiktokenTokenizer",
    "Tokenizer",
    "compute_args_hash",
    "compute_mdhash_id",
    "sanitize_text",
    "wrap_embedding_func_with_attrs",
]
