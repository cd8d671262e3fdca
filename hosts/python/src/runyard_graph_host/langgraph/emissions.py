"""Counts what a graph has emitted: it reaches the consumer of its stream later, when the graph lets it."""

from collections.abc import Iterable
from typing import Any

from langgraph.pregel.protocol import StreamProtocol


class EmissionCounter:
    """Counts the events of the root graph that its consumer has not taken yet."""

    def __init__(self, modes: Iterable[str]) -> None:
        self._modes = frozenset(modes)
        self.waiting = 0

    @property
    def stream(self) -> StreamProtocol:
        """Gets all that the graph emits in these modes, at once, beside the graph's own stream."""
        modes: Any = set(self._modes)
        return StreamProtocol(self._count, modes)

    def take(self, namespace: Any, mode: str) -> None:
        """Is called for what the consumer takes."""
        if not namespace and mode in self._modes:
            self.waiting -= 1

    def _count(self, chunk: tuple[Any, ...]) -> None:
        if not chunk[0]:
            self.waiting += 1
