"""Holds events of one run until the parent grants byte credits for them; it grants what it has passed on.

While there is no credit, events wait here; superseded ones are dropped, and past the limit the run fails. Events that
follow from a checkpoint wait here, too, until its put has been sent: the parent delivers them once that is durable.
"""

import asyncio
from collections.abc import Callable
from typing import TypedDict

import orjson

from ..protocol.connection import HostConnection
from .rendered_event import RenderedEvent

# A subgraph with a saver of its own never sends its puts. A put that is not there at so many looks, so many seconds
# apart, is not waited for any more. Looks count and not time: a put needs turns of an event loop that may stand still.
_LOOKS_FOR_PUT = 10
_LOOKS_EVERY = 0.1


class Limits(TypedDict):
    creditBytes: int
    bufferBytes: int
    eventBytes: int
    logBytesPerSecond: int


class StreamBufferOverflowError(Exception):
    """Events were produced faster than the parent passed them on."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"The run streamed more than {limit_bytes} bytes that could not be delivered")


class EventBuffer:
    def __init__(
        self,
        connection: HostConnection,
        use: int,
        limits: Limits,
        *,
        on_overflow: Callable[[StreamBufferOverflowError], None],
        warn: Callable[[str], None],
    ) -> None:
        self._connection = connection
        self._use = use
        self._credit = limits["creditBytes"]
        self._buffer_bytes = limits["bufferBytes"]
        self._event_bytes = limits["eventBytes"]
        self._on_overflow = on_overflow
        self._warn = warn
        self._waiting: list[RenderedEvent] = []
        self._waiting_bytes = 0
        # The waiting event that a later one with the same key replaces.
        self._replaceable: dict[str, RenderedEvent] = {}
        self._is_scheduled = False
        self._is_overflown = False
        # Checkpoints whose put has to be sent before any event here, each with the timer of the next look for it.
        self._awaited_puts: dict[str, asyncio.TimerHandle] = {}
        # Checkpoints whose put was sent, or that were read from storage.
        self._sent_puts: set[str] = set()
        self._empty: asyncio.Future[None] | None = None
        # The number of events that were sent or wait here. Once as many have arrived, none of them is missing.
        self.emitted = 0

    def push(self, rendered: RenderedEvent) -> None:
        if self._is_overflown:
            return
        if len(rendered.data) > self._event_bytes:
            rendered = _too_large(rendered)
        if rendered.supersedes is not None:
            self._supersede(rendered.supersedes, rendered)
        self._waiting.append(rendered)
        self.emitted += 1
        self._waiting_bytes += len(rendered.data)
        # A single event is never too much: it is sent as soon as there is any credit.
        if self._waiting_bytes > self._buffer_bytes and len(self._waiting) > 1:
            self._is_overflown = True
            self._drop()
            self._on_overflow(StreamBufferOverflowError(self._buffer_bytes))
            return
        self._schedule()

    def await_put(self, checkpoint_id: str) -> None:
        """Sends nothing that waits here, or comes, before the checkpoint is known to be sent."""
        if checkpoint_id not in self._sent_puts and checkpoint_id not in self._awaited_puts:
            self._look_later(checkpoint_id, _LOOKS_FOR_PUT)

    def know_put(self, checkpoint_id: str) -> None:
        self._sent_puts.add(checkpoint_id)
        timer = self._awaited_puts.pop(checkpoint_id, None)
        if timer is None:
            return
        timer.cancel()
        if not self._awaited_puts and self._waiting:
            self._schedule()

    def grant(self, credit: int) -> None:
        self._credit += credit
        if self._waiting:
            self._schedule()

    async def wait_until_empty(self) -> None:
        """Waits until no event waits any more."""
        while self._waiting:
            self._empty = asyncio.get_running_loop().create_future()
            self._schedule()
            await self._empty

    def stop_awaiting_puts(self) -> None:
        """Is called when no put comes any more, however the run has ended."""
        for timer in self._awaited_puts.values():
            timer.cancel()
        self._awaited_puts.clear()
        if self._waiting:
            self._schedule()

    def _schedule(self) -> None:
        # Events go out at the end of a turn of the event loop: a put of the same turn reaches the connection first.
        if not self._is_scheduled:
            self._is_scheduled = True
            self._connection.before_flush(self._flush)

    def _flush(self) -> None:
        self._is_scheduled = False
        if self._awaited_puts or not self._waiting or self._credit <= 0:
            return
        taken = 0
        events: list[tuple[str, str, int]] = []
        raw: list[bytes] = []
        for waiting in self._waiting:
            if self._credit <= 0:
                break
            mode, event, data, supersedes = waiting
            events.append((mode, event, len(data)))
            raw.append(data)
            self._credit -= len(data)
            self._waiting_bytes -= len(data)
            if supersedes is not None and self._replaceable.get(supersedes) is waiting:
                del self._replaceable[supersedes]
            taken += 1
        del self._waiting[:taken]
        self._connection.send(self._use, {"t": "run.events", "use": self._use, "events": events}, raw)
        self._tell_empty()

    def _supersede(self, key: str, rendered: RenderedEvent) -> None:
        before = self._replaceable.get(key)
        self._replaceable[key] = rendered
        if before is None or self._credit > 0:
            return
        self._waiting = [event for event in self._waiting if event is not before]
        self.emitted -= 1
        self._waiting_bytes -= len(before.data)

    def _drop(self) -> None:
        self._waiting.clear()
        self._waiting_bytes = 0
        self._replaceable.clear()
        self._tell_empty()

    def _tell_empty(self) -> None:
        if not self._waiting and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    def _look_later(self, checkpoint_id: str, looks: int) -> None:
        timer = asyncio.get_running_loop().call_later(_LOOKS_EVERY, self._look_for_put, checkpoint_id, looks - 1)
        self._awaited_puts[checkpoint_id] = timer

    def _look_for_put(self, checkpoint_id: str, looks: int) -> None:
        """Is called while the put is awaited, with the number of looks that are left."""
        if looks > 0:
            self._look_later(checkpoint_id, looks)
        else:
            self._give_up(checkpoint_id)

    def _give_up(self, checkpoint_id: str) -> None:
        self._awaited_puts.pop(checkpoint_id, None)
        self._warn(f"Checkpoint {checkpoint_id} is not stored by the platform: does a subgraph have its own saver?")
        if not self._awaited_puts and self._waiting:
            self._schedule()


def _too_large(rendered: RenderedEvent) -> RenderedEvent:
    """Replaces an event that is too large, so that the client sees that one is missing."""
    gap = {"reason": "too_large", "after": None, "event": rendered.event, "bytes": len(rendered.data)}
    return RenderedEvent("stream.gap", "gap", orjson.dumps(gap))
