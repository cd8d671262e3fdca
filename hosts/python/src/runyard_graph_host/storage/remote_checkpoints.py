"""Checkpoints of one use of a graph, by requests to the parent. Its methods belong to the thread of the event loop."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from ..protocol.connection import Answer, HostConnection
from ..protocol.errors import BackendError, Header, RemoteError
from ..protocol.frames import Bytes
from .interrupt_answers import are_asking, without_given_answers
from .values import (
    ChannelHistory,
    CheckpointKey,
    CheckpointPut,
    StoredCheckpoint,
    WritesPut,
    unpack_histories,
    unpack_stored,
)

# The number of checkpoints that a run may be ahead of storage. With a smaller one, a fast graph waits for each commit.
# With a larger one, more work is repeated when the worker stalls or loses its connection.
PUTS_AHEAD_MAX = 4

_STREAM_POSITION_BYTES = 8

Place = tuple[str, str, str | None]


class RemoteCheckpoints:
    """Sends puts and writes in the order of the calls.

    `before_put` is called before each put is sent.
    `on_stored` gets the id of each checkpoint that was read, or whose put was sent.
    With `on_put_failed` they do not wait for their answers: it receives the error of one that failed.
    """

    def __init__(
        self,
        connection: HostConnection,
        use: int,
        *,
        new_thread_id: str | None = None,
        on_put_failed: Callable[[BaseException], None] | None = None,
        stream_position: Callable[[str], int] | None = None,
        before_put: Callable[[], None] | None = None,
        on_stored: Callable[[str], None] | None = None,
    ) -> None:
        self._connection = connection
        self._use = use
        self._on_put_failed = on_put_failed
        self._stream_position = stream_position
        self._before_put = before_put
        self._on_stored = on_stored
        # The newest checkpoint of the root graph that this use read or wrote.
        self.last_root_checkpoint_id: str | None = None
        # True when a checkpoint of the root graph that this use read or wrote to asked something.
        self.may_ask = False
        # Checkpoints that were read before the graph asks for them.
        self._read_ahead: dict[Place, StoredCheckpoint | None] = {}
        self._in_flight: set[asyncio.Future[Answer]] = set()
        self._root_puts: deque[asyncio.Future[Answer]] = deque()
        # A thread without checkpoints: the first read of its newest one is answered at once.
        if new_thread_id is not None:
            self._read_ahead[new_thread_id, "", None] = None

    async def get(self, thread_id: str, namespace: str, checkpoint_id: str | None = None) -> StoredCheckpoint | None:
        place = (thread_id, namespace, checkpoint_id)
        if place in self._read_ahead:
            stored = self._read_ahead.pop(place)
        else:
            stored = await self._get(place)
        if stored is None:
            return None
        if self._on_stored is not None:
            self._on_stored(stored.key.checkpoint_id)
        if namespace == "":
            if self.last_root_checkpoint_id is None:
                self.last_root_checkpoint_id = stored.key.checkpoint_id
            self.may_ask = self.may_ask or are_asking([write.channel for write in stored.pending_writes])
        return without_given_answers(stored)

    async def read_ahead(self, thread_id: str, checkpoint_id: str | None = None) -> StoredCheckpoint | None:
        """Reads a checkpoint of the root graph with all that is stored at it.

        The next read of it gets the same answer, unless something is written before.
        """
        place = (thread_id, "", checkpoint_id)
        if place not in self._read_ahead:
            self._read_ahead[place] = await self._get(place)
        return self._read_ahead[place]

    async def find(self, query: dict[str, Any]) -> list[StoredCheckpoint]:
        await self.wait_for_writes()
        answer = await self._ask({"t": "checkpoint.list", "query": query})
        return [without_given_answers(stored) for stored in unpack_stored(answer.ok, answer.raw)]

    async def channel_histories(self, key: CheckpointKey, channels: list[str]) -> list[ChannelHistory]:
        await self.wait_for_writes()
        answer = await self._ask({"t": "checkpoint.channelHistories", "key": key.document(), "channels": channels})
        return unpack_histories(answer.ok, answer.raw)

    async def put(self, put: CheckpointPut) -> None:
        self._read_ahead.clear()
        if self._before_put is not None:
            self._before_put()
        document, parts = put.pack()
        committed = self._write("checkpoint.put", put.key.namespace, document, parts)
        is_root = put.key.namespace == ""
        if is_root:
            self.last_root_checkpoint_id = put.key.checkpoint_id
        if self._on_stored is not None:
            self._on_stored(put.key.checkpoint_id)
        if is_root:
            self._root_puts.append(committed)
        await self._wait(committed)

    async def put_writes(self, put: WritesPut) -> None:
        self._read_ahead.clear()
        if put.key.namespace == "":
            self.may_ask = self.may_ask or are_asking([channel for _, channel, _ in put.writes])
        document, parts = put.pack()
        await self._wait(self._write("checkpoint.putWrites", put.key.namespace, document, parts))

    async def delete_thread(self, thread_id: str) -> None:
        self._read_ahead.clear()
        await self._ask({"t": "checkpoint.deleteThread", "threadId": thread_id})

    async def keep_pace(self) -> None:
        """Waits while the run is too many checkpoints ahead of storage."""
        puts = self._root_puts
        while puts and (len(puts) > PUTS_AHEAD_MAX or puts[0].done()):
            await asyncio.wait([puts.popleft()])

    async def wait_for_writes(self) -> None:
        """Waits until every write has been answered, with success or an error."""
        if self._in_flight:
            await asyncio.wait(tuple(self._in_flight))

    async def _get(self, place: Place) -> StoredCheckpoint | None:
        thread_id, namespace, checkpoint_id = place
        await self.wait_for_writes()
        header: Header = {"t": "checkpoint.get", "threadId": thread_id, "namespace": namespace}
        if checkpoint_id is not None:
            header["checkpointId"] = checkpoint_id
        answer = await self._ask(header)
        found = unpack_stored(answer.ok, answer.raw)
        return found[0] if found else None

    async def _ask(self, header: Header) -> Answer:
        try:
            return await self._connection.request(self._use, {**header, "use": self._use})
        except RemoteError as error:
            raise BackendError(error) from error

    def _write(self, kind: str, namespace: str, document: Header, parts: list[bytes]) -> asyncio.Future[Answer]:
        raw: list[Bytes] = [*parts]
        position = self._stream_position
        if position is not None:
            # It is known at the end of the turn: until then the graph's stream brings the events that belong to this.
            slot = bytearray(_STREAM_POSITION_BYTES)
            raw.append(slot)
            document["hasStreamPosition"] = True

            def fill() -> None:
                slot[:] = position(namespace).to_bytes(_STREAM_POSITION_BYTES, "big")

            self._connection.before_flush(fill)
        committed = self._connection.request(self._use, {"t": kind, "use": self._use, "put": document}, raw)
        self._in_flight.add(committed)
        committed.add_done_callback(self._in_flight.discard)
        return committed

    async def _wait(self, committed: asyncio.Future[Answer]) -> None:
        if self._on_put_failed is None:
            await _durable(committed)
        else:
            committed.add_done_callback(self._report)

    def _report(self, committed: asyncio.Future[Answer]) -> None:
        error = None if committed.cancelled() else committed.exception()
        if error is not None and self._on_put_failed is not None:
            self._on_put_failed(BackendError(error) if isinstance(error, RemoteError) else error)


async def _durable(future: asyncio.Future[Answer]) -> None:
    """Waits for the answer to a write. Who stops waiting does not keep others from waiting for it."""
    try:
        await asyncio.shield(future)
    except RemoteError as error:
        raise BackendError(error) from error
