"""Which rows of a vector table a filter accepts."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from lightrag.kg.sqlite.filter_columns import COLUMN_LIST, joined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightrag.query_filters import VectorQueryFilter


def eligible_rows(
    connection: sqlite3.Connection, table: str, metadata_filter: VectorQueryFilter, *, for_summaries: bool
) -> NDArray[np.int64]:
    """Return the ids of all rows that a filter accepts, and of rows that carry no filter fields.

    Args:
        connection: Reads one snapshot.
        table: A vector table.
        metadata_filter: The filter.
        for_summaries: The rows are those of entities or relations, whose fields unite several documents.
    """
    import numpy as np

    from lightrag.predicates import Or, evaluate
    from lightrag.query_filters import NOT_STAMPED, document_predicate, summary_predicate

    wanted = summary_predicate(metadata_filter) if for_summaries else document_predicate(metadata_filter)
    predicate = Or((NOT_STAMPED, wanted))
    rows = connection.execute(f"SELECT id, {COLUMN_LIST} FROM {table}").fetchall()
    accepted = [row[0] for row in rows if evaluate(predicate, joined({}, row[1:]))]
    return np.array(accepted, dtype=np.int64)
