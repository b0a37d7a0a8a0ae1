"""The prompts of each task, ready to send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from lightrag.prompts import PROMPTS
from lightrag.prompts.rendering import fill, render, render_examples, seal

_DELIMITERS = ("DEFAULT_TUPLE_DELIMITER", "DEFAULT_COMPLETION_DELIMITER")


class PromptPair(NamedTuple):
    """A system prompt and the user prompt that goes with it."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class ExtractionPromptOptions:
    """What an extraction prompt can be told.

    Attributes:
        language: Language of descriptions and keywords.
        entity_types_guidance: Entity types with their meaning, as text; ``None`` for the default ones.
        use_json: Ask for a JSON object instead of rows.
        max_records: Entities and relations together, at the most.
        max_entities: Entities at the most.
    """

    language: str = "English"
    entity_types_guidance: str | None = None
    use_json: bool = False
    max_records: int = 100
    max_entities: int = 40

    @property
    def _kind(self) -> str:
        return "_json" if self.use_json else ""

    def slots(self) -> dict[str, object]:
        """Return the slots that all extraction templates share."""
        return {
            "language": self.language,
            "max_records": self.max_records,
            "max_entities": self.max_entities,
            "tuple_delimiter": PROMPTS["DEFAULT_TUPLE_DELIMITER"],
            "completion_delimiter": PROMPTS["DEFAULT_COMPLETION_DELIMITER"],
        }

    def template(self, stem: str, ending: str) -> str:
        """Return the key of a template in the chosen format: ``entity_extraction[_json]_system_prompt``."""
        return f"{stem}{self._kind}_{ending}"


def extraction_prompts(text: str, options: ExtractionPromptOptions) -> PromptPair:
    """Return the prompts that extract entities and relations from a chunk.

    Raises:
        InputError: A template that the user replaced cannot be filled.
    """
    # Templates are the user's to replace at any time, so the memory of the system prompt is keyed by all of them.
    names = [options.template("entity_extraction", ending) for ending in ("system_prompt", "examples")]
    given = (PROMPTS.get(name) for name in (*names, "default_entity_types_guidance", *_DELIMITERS))
    templates = tuple(tuple(map(str, value)) if isinstance(value, list) else str(value) for value in given)
    system = _extraction_system_prompt(options, templates)
    user = render(options.template("entity_extraction", "user_prompt"), input_text=seal(text), **options.slots())
    return PromptPair(system, user)


@lru_cache(maxsize=16)
def _extraction_system_prompt(options: ExtractionPromptOptions, _templates: tuple[str | tuple[str, ...], ...]) -> str:
    slots = options.slots()
    return render(
        options.template("entity_extraction", "system_prompt"),
        examples=render_examples(options.template("entity_extraction", "examples"), **slots),
        entity_types_guidance=options.entity_types_guidance or PROMPTS["default_entity_types_guidance"],
        **slots,
    )


def gleaning_prompt(options: ExtractionPromptOptions) -> str:
    """Return the user prompt that asks for what was missed.

    It is sent with the same system prompt and with the first user prompt and its reply as history.
    """
    return render(options.template("entity_continue_extraction", "user_prompt"), **options.slots())


@dataclass(frozen=True, slots=True)
class SummaryPromptOptions:
    """What a summary prompt can be told.

    Attributes:
        summary_length: Recommended length of the summary in tokens.
        language: Language of the summary.
        combine: The texts are partial summaries of one list, to be joined.
    """

    summary_length: int = 600
    language: str = "English"
    combine: bool = False


def summary_prompt(
    kind: Literal["entity", "relation"], name: str, descriptions: Sequence[str], options: SummaryPromptOptions
) -> str:
    """Return the prompt that condenses descriptions of one entity or relation, oldest first.

    Raises:
        InputError: A template that the user replaced cannot be filled.
    """
    template = "combine_entity_descriptions" if options.combine else "summarize_entity_descriptions"
    return render(
        template,
        description_type=kind,
        description_name=seal(name),
        description_list="\n".join(f"- {seal(' '.join(text.split()))}" for text in descriptions),
        summary_length=options.summary_length,
        language=options.language,
    )


def keywords_prompt(query: str, language: str = "English") -> str:
    """Return the prompt that asks for the keywords of a question.

    Raises:
        InputError: A template that the user replaced cannot be filled.
    """
    examples = render_examples("keywords_extraction_examples", language=language)
    return render("keywords_extraction", query=seal(query), language=language, examples=examples)


@dataclass(frozen=True, slots=True)
class AnswerPromptOptions:
    """What an answer prompt can be told.

    Attributes:
        response_type: Form of the answer, in words.
        user_prompt: Further instruction of the person who asks; empty for none.
        system_prompt: The caller's own template instead of ours, with the same slots.
        naive: The context holds passages only.
    """

    response_type: str = "Multiple Paragraphs"
    user_prompt: str = ""
    system_prompt: str | None = None
    naive: bool = False


def answer_system_prompt(context: str, options: AnswerPromptOptions) -> str:
    """Return the system prompt that answers a question from a context; the question is the user prompt.

    Both ``context_data`` and ``content_data`` are offered to a caller's own template, whatever the mode.

    Raises:
        InputError: The template cannot be filled.
    """
    slots = {
        "response_type": options.response_type,
        "user_prompt": options.user_prompt or "none",
        "context_data": seal(context),
        "content_data": seal(context),
    }
    name = "naive_rag_response" if options.naive else "rag_response"
    if options.system_prompt is not None:
        return fill(options.system_prompt, slots, name="system_prompt")
    return render(name, **slots)


@dataclass(frozen=True, slots=True)
class ContextBlocks:
    """The parts of an answer context, each as lines of text.

    Attributes:
        chunks: JSON lines ``{"reference_id", "content"}``.
        references: Lines ``[n] file``.
        entities: JSON lines ``{"entity", "type", "description"}``.
        relations: JSON lines ``{"entity1", "entity2", "description"}``.
    """

    chunks: str
    references: str
    entities: str = ""
    relations: str = ""


def context_text(blocks: ContextBlocks, *, naive: bool = False) -> str:
    """Lay an answer context out.

    Raises:
        InputError: A template that the user replaced cannot be filled.
    """
    return render(
        "naive_query_context" if naive else "kg_query_context",
        entities_str=blocks.entities,
        relations_str=blocks.relations,
        text_chunks_str=blocks.chunks,
        reference_list_str=blocks.references,
    )
