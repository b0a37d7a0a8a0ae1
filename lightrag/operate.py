"""Import path that users already have; the names live elsewhere."""

from lightrag.chunker.fixed import chunking_by_token_size

__all__ = ["chunking_by_token_size"]
