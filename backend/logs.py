"""Logs: one JSON object a line for machines, a readable line on a terminal; the same events in both.

Whatever logs through the standard library (our modules, the server, the driver) goes the same way, so every line
written while a request is served carries its ``request_id``.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog
from structlog.types import Processor

_QUIET = {
    "neo4j": logging.ERROR,  # every refused attempt while Neo4j boots would be a warning
    "uvicorn.access": logging.CRITICAL,  # the access lines are ours, with the route and the caller
    "python_multipart": logging.WARNING,
}


def configure_logs(log_format: str = "auto", level: str = "info", stream: TextIO | None = None) -> None:
    """Send every log of this process to ``stream`` (stderr); ``auto`` is text on a terminal, else JSON lines."""
    stream = stream or sys.stderr
    text = log_format == "text" or (log_format == "auto" and stream.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if text else "iso", utc=not text, key="at"),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(text=text, colours=text and stream.isatty()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name, floor in _QUIET.items():
        logging.getLogger(name).setLevel(floor)


def _renderers(*, text: bool, colours: bool) -> list[Processor]:
    if text:
        return [structlog.dev.ConsoleRenderer(colors=colours, timestamp_key="at", pad_event_to=0)]
    # A trace is one field of one line: a log of lines stays a log of lines.
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
