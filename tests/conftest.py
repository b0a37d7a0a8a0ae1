"""What every test starts and ends with."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


def untouched_logging() -> None:
    """Let the package's loggers be as they are in a program that configures nothing."""
    logging.disable(logging.NOTSET)
    names = [name for name in logging.root.manager.loggerDict if name == "lightrag" or name.startswith("lightrag.")]
    for name in ["lightrag", *names]:
        logger = logging.getLogger(name)
        logger.disabled = False
        logger.propagate = True
        logger.setLevel(logging.NOTSET)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Undo what a test does to the package's loggers, on which later tests listen."""
    untouched_logging()
    yield
    untouched_logging()
