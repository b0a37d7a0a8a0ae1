"""Import path that users already have; the names live elsewhere."""

import logging

from lightrag.contracts.models import EmbeddingFunc
from lightrag.contracts.models import Tokenizer as TokenizerInterface
from lightrag.embedding.decorator import wrap_embedding_func_with_attrs
from lightrag.ingest.documents import new_track_id as generate_track_id
from lightrag.prompts.thinking import strip_thinking as remove_think_tags
from lightrag.runtime.hashing import compute_args_hash, compute_mdhash_id
from lightrag.runtime.logs import set_verbose_debug, setup_logger
from lightrag.runtime.text import content_summary as get_content_summary
from lightrag.runtime.text import sanitize_text
from lightrag.runtime.text import sanitize_text as sanitize_text_for_encoding
from lightrag.runtime.tokens import TiktokenTokenizer, Tokenizer
from lightrag.runtime.usage import TokenTracker, report_usage
from lightrag.sync import always_get_an_event_loop

logger = logging.getLogger("lightrag")

__all__ = [
    "EmbeddingFunc",
    "TiktokenTokenizer",
    "TokenTracker",
    "Tokenizer",
    "TokenizerInterface",
    "always_get_an_event_loop",
    "compute_args_hash",
    "compute_mdhash_id",
    "generate_track_id",
    "get_content_summary",
    "logger",
    "remove_think_tags",
    "report_usage",
    "sanitize_text",
    "sanitize_text_for_encoding",
    "set_verbose_debug",
    "setup_logger",
    "wrap_embedding_func_with_attrs",
]
