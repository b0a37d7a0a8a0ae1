"""What a check collects."""

from __future__ import annotations

from dataclasses import dataclass, field

# Objects or rows that are looked at together.
PAGE = 200


@dataclass
class Report:
    """Findings of a check.

    Attributes:
        repair: Whether what is found shall be mended.
        found: A sentence for each finding.
    """

    repair: bool
    found: list[str] = field(default_factory=list)

    def add(self, finding: str) -> None:
        """Note a finding."""
        self.found.append(finding)
