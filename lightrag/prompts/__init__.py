"""The prompts, all our own, as one dictionary of templates.

``PROMPTS`` is a plain, mutable dictionary because users replace entries in place. Its keys and the slots of
``rag_response`` and ``naive_rag_response`` are part of the compatibility contract. A template is used with
:func:`lightrag.prompts.rendering.render`: ``{slot}`` is filled, ``{{`` and ``}}`` are braces.

Data from documents and users stands between markers (``<document_text>``, ``<question>``, ``<descriptions>``,
``<context>``), and :func:`lightrag.prompts.rendering.seal` keeps it from closing them.
"""

from __future__ import annotations

from typing import Any

from lightrag.prompts import answers, extraction_json, extraction_rows, keywords, summaries
from lightrag.prompts.entity_types import DEFAULT_ENTITY_TYPES, entity_types_guidance

PROMPTS: dict[str, Any] = {
    "DEFAULT_TUPLE_DELIMITER": "<|#|>",
    "DEFAULT_COMPLETION_DELIMITER": "<|COMPLETE|>",
    "DEFAULT_ENTITY_TYPES": list(DEFAULT_ENTITY_TYPES),
    "default_entity_types_guidance": entity_types_guidance(DEFAULT_ENTITY_TYPES),
    "entity_extraction_system_prompt": extraction_rows.SYSTEM,
    "entity_extraction_user_prompt": extraction_rows.USER,
    "entity_extraction_examples": list(extraction_rows.EXAMPLES),
    "entity_continue_extraction_user_prompt": extraction_rows.GLEANING,
    "entity_extraction_json_system_prompt": extraction_json.SYSTEM,
    "entity_extraction_json_user_prompt": extraction_json.USER,
    "entity_extraction_json_examples": list(extraction_json.EXAMPLES),
    "entity_continue_extraction_json_user_prompt": extraction_json.GLEANING,
    "summarize_entity_descriptions": summaries.SUMMARIZE,
    "combine_entity_descriptions": summaries.COMBINE,
    "keywords_extraction": keywords.KEYWORDS,
    "keywords_extraction_examples": list(keywords.EXAMPLES),
    "rag_response": answers.RAG_RESPONSE,
    "naive_rag_response": answers.NAIVE_RAG_RESPONSE,
    "kg_query_context": answers.KG_QUERY_CONTEXT,
    "naive_query_context": answers.NAIVE_QUERY_CONTEXT,
    "fail_response": answers.FAIL_RESPONSE,
}
