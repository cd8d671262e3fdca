"""An event of a run, ready for the wire."""

from typing import NamedTuple


class RenderedEvent(NamedTuple):
    mode: str
    event: str
    # JSON text.
    data: bytes
    # A later event with the same key makes this one superfluous.
    supersedes: str | None = None
