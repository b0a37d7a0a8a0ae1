"""An object with all its evidence in hand, for changes that need to see the whole of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.graph.editing import Submission, merged_extra
from lightrag.graph.manual import ManualFields, is_correction, statement, with_fields
from lightrag.graph.merge import load_facts, load_records
from lightrag.graph.records import ObjectRecord, fold


@dataclass
class Holding:
    """An object and what is known of it.

    Attributes:
        record: As stored, with changes made to it here.
        rows: Its evidence in order, likewise.
    """

    record: ObjectRecord
    rows: list[Evidence]

    async def apply(self, context: EngineContext, submission: Submission, now: int) -> list[Evidence]:
        """Apply what a person submitted, in memory.

        Args:
            context: The workspace.
            submission: The change.
            now: Epoch seconds.

        Returns:
            The evidence rows to store.
        """
        self.record.extra = merged_extra(self.record.extra, submission.extra)
        if submission.fields.is_empty:
            return []
        changed, self.rows = with_fields(self.rows, submission.fields, now)
        if is_correction(changed):
            # A correction is the last word, so folding it in again, with more in it, changes only what is new.
            self.record.extend([changed], {})
        else:
            facts = await load_facts(context, {row.document_id for row in self.rows})
            self.record = fold(self.record.kind, self.record.object_id, self.rows, facts, self.record.extra)
        return [changed]


async def load_holdings(context: EngineContext, kind: ObjectKind, object_ids: Sequence[str]) -> dict[str, Holding]:
    """Return objects with their evidence; those that do not exist are left out.

    An object without evidence, as other tools may have written it, gets a statement that says what its properties say.
    """
    is_entity = kind is ObjectKind.ENTITY
    records = await load_records(context, object_ids if is_entity else [], [] if is_entity else object_ids)
    rows = await context.stores.evidence.of_objects(kind, [object_id for _, object_id in records])
    return {
        object_id: Holding(record, rows.get(object_id) or [_as_statement(record)])
        for (_, object_id), record in records.items()
    }


def _as_statement(record: ObjectRecord) -> Evidence:
    fields = ManualFields(
        description=record.description.replace(GRAPH_FIELD_SEP, "\n"),
        entity_type=record.entity_type if record.kind is ObjectKind.ENTITY else "",
        keywords=",".join(record.keywords),
        weight=record.weight,
    )
    return statement(record.kind, record.object_id, record.tenant_tag, record.created_at, fields)
