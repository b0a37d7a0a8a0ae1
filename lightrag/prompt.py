"""Import path that users already have; the names live elsewhere."""

from lightrag.prompts import PROMPTS

__all__ = ["PROMPTS"]
