"""Bodies of the routes that speak as Ollama does. Fields that Ollama knows and we do not need are accepted."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MAX_TEXT_CHARS = 131_072


class OllamaModel(BaseModel):
    """A body as clients of Ollama send it."""

    model_config = ConfigDict(extra="ignore")


class OllamaMessage(OllamaModel):
    """A message of a chat."""

    role: str = Field(max_length=64, description="system, user or assistant.", examples=["user"])
    content: str = Field("", max_length=MAX_TEXT_CHARS, description="What was said.", examples=["/mix Who built it?"])
    images: list[str] | None = Field(None, description="Not looked at.")


class ChatRequest(OllamaModel):
    """A chat; the last message is the question."""

    model: str = Field("lightrag:latest", max_length=256, description="Not looked at.", examples=["lightrag:latest"])
    messages: list[OllamaMessage] = Field(
        min_length=1,
        max_length=256,
        description="The messages, oldest first. The last one may begin with a mode such as /naive, and with "
        "/filter{...} and the filter fields of POST /query as JSON.",
        examples=[[{"role": "user", "content": '/filter{"required_tags": ["type:act"]} /mix Which acts hold?'}]],
    )
    stream: bool | None = Field(True, description="Send the answer in pieces.", examples=[True])
    options: dict[str, Any] | None = Field(None, description="Not looked at.")
    system: str | None = Field(None, max_length=MAX_TEXT_CHARS, description="Further instruction for the answer.")


class GenerateRequest(OllamaModel):
    """A prompt that goes straight to the model, without retrieval."""

    model: str = Field("lightrag:latest", max_length=256, description="Not looked at.", examples=["lightrag:latest"])
    prompt: str = Field(min_length=1, max_length=MAX_TEXT_CHARS, description="The prompt.", examples=["Say hello."])
    system: str | None = Field(None, max_length=MAX_TEXT_CHARS, description="System prompt.")
    stream: bool | None = Field(False, description="Send the answer in pieces.", examples=[False])
    options: dict[str, Any] | None = Field(None, description="Not looked at.")
