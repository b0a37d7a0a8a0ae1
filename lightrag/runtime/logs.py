"""Log lines of the engine on standard error or in a file, for programs that set up no logging of their own."""

from __future__ import annotations

import logging

_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Marks handlers of ours, so that setting up twice does not write every line twice.
_NAME = "lightrag-console"
_FILE_NAME = "lightrag-file"


def setup_logger(
    logger_name: str = "lightrag",
    level: str = "INFO",
    add_filter: bool = False,
    log_file_path: str | None = None,
    enable_file_logging: bool = True,
) -> None:
    """Send the lines of a logger to standard error, and to a file if one is named.

    Args:
        logger_name: The logger.
        level: Least level.
        add_filter: Accepted; nothing is filtered.
        log_file_path: The file; lines are added to it.
        enable_file_logging: Whether the file is written.
    """
    logger = logging.getLogger(logger_name)
    logger.setLevel(level.upper())
    logger.propagate = False
    _replace(logger, _NAME, logging.StreamHandler())
    if log_file_path and enable_file_logging:
        _replace(logger, _FILE_NAME, logging.FileHandler(log_file_path, encoding="utf-8"))


def set_verbose_debug(enabled: bool) -> None:
    """Log everything that the engine has to say, or no more than its warnings and notes."""
    logging.getLogger("lightrag").setLevel(logging.DEBUG if enabled else logging.INFO)


def _replace(logger: logging.Logger, name: str, handler: logging.Handler) -> None:
    for old in [one for one in logger.handlers if one.get_name() == name]:
        logger.removeHandler(old)
        old.close()
    handler.set_name(name)
    handler.setFormatter(logging.Formatter(_FORM))
    logger.addHandler(handler)
