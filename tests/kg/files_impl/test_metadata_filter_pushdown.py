"""The promises of filtered queries, on this family."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kg.files_impl.workspace import STORAGES
from tests.property.test_filtered_queries import check, filters, metadata


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(metadata(), min_size=1, max_size=5), filters(), st.booleans())
def test_no_marker_of_an_excluded_document(documents: list[Any], fields: dict[str, Any], pushdown: bool) -> None:
    asyncio.run(check(documents, fields, **STORAGES, enable_vector_metadata_filters=pushdown))
