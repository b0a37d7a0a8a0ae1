"""What is being worked on, on log records and in tasks started inside."""

from __future__ import annotations

import asyncio
import logging

import pytest

from lightrag.runtime.subjects import Subject, current_subject, subject_logger, working_on


async def test_tasks_inherit_the_subject_and_others_do_not_see_it() -> None:
    async def look() -> Subject:
        await asyncio.sleep(0)
        return current_subject()

    async def work(name: str) -> Subject:
        with working_on(document_id=name, track_id="t"):
            return await asyncio.create_task(look())

    found = await asyncio.gather(work("a"), work("b"), look())
    assert found == [Subject("a", "t"), Subject("b", "t"), Subject()]
    assert current_subject() == Subject()


def test_records_carry_the_ids_that_are_known(caplog: pytest.LogCaptureFixture) -> None:
    logger = subject_logger("lightrag.test")
    with caplog.at_level(logging.INFO, "lightrag.test"):
        logger.info("outside")
        with working_on(document_id="doc-1", track_id=None):
            logger.info("inside %s", 1, extra={"path": "/x"})
        with working_on(query_id="q"):
            logger.info("query", extra={"query_id": "own"})
    outside, inside, query = caplog.records
    assert not hasattr(outside, "document_id")
    assert (inside.getMessage(), inside.__dict__["document_id"], inside.__dict__["path"]) == ("inside 1", "doc-1", "/x")
    assert not hasattr(inside, "track_id")
    assert query.__dict__["query_id"] == "own"
