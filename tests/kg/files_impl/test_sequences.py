"""Any sequence of edits, renamings, merges and deletions, on this family."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

from tests.graph.test_sequences import StoredGraphMachine
from tests.kg.files_impl.workspace import STORAGES


class FileGraphMachine(StoredGraphMachine):
    def place(self) -> dict[str, Any]:
        return {**super().place(), **STORAGES}


TestFileSequences = FileGraphMachine.TestCase
TestFileSequences.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
