"""The same promises (I1, I3, I4, I5, I7) where stores do not filter by documents, and on the other family of stores."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightrag.kg.sqlite.evidence import SQLiteEvidenceStorage
from lightrag.kg.sqlite.vector import SQLiteVectorDBStorage
from tests.fakes.filtering import FILES
from tests.property.test_filtered_queries import check, filters, metadata


@pytest.mark.parametrize("way", ["gate", "pushdown", "files"])
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(metadata(), min_size=1, max_size=5), filters())
def test_no_marker_of_an_excluded_document(way: str, documents: list[dict[str, Any]], fields: dict[str, Any]) -> None:
    stores = FILES if way == "files" else {}
    with pytest.MonkeyPatch.context() as patch:
        if way != "files":
            for kind in (SQLiteVectorDBStorage, SQLiteEvidenceStorage):
                patch.setattr(kind, "filters_by_documents", property(lambda self: False))
        asyncio.run(check(documents, fields, enable_vector_metadata_filters=way == "pushdown", **stores))
