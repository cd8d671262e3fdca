"""One end of the host protocol: it sends typed messages, and matches answers to their requests.

Its methods belong to the thread of its event loop, except `from_thread` and `call_later`.
"""

import asyncio
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, cast

from .errors import ErrorBody, Header, RemoteError
from .frames import Bytes, FrameReader, FrameWriter, ProtocolViolationError
from .header_json import decode_header, encode_header

_LENGTH = Struct(">I")
# The other side reads it as one text. The bytes behind the JSON are not part of it.
MAX_HEADER_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    ok: Any
    raw: memoryview


class HostConnection(asyncio.Protocol):
    """Takes messages by `on_message`, and calls `on_close` once, with the reason."""

    def __init__(self, on_message: Callable[[Header, memoryview], None], on_close: Callable[[str], None]) -> None:
        self._on_message = on_message
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._transport: asyncio.Transport | None = None
        self._reader = FrameReader()
        self._writer = FrameWriter()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._before_flush: list[Callable[[], None]] = []
        self._is_flush_scheduled = False
        self._is_paused = False
        self._closed: str | None = None

    def send(self, lane: int, header: Header, raw: Sequence[Bytes] = ()) -> None:
        """Sends a message that expects no answer. Messages of one lane keep their order."""
        if self._closed is not None:
            return
        text = encode_header(header)
        if len(text) > MAX_HEADER_BYTES:
            raise OverflowError(f"{len(text)} bytes of JSON are more than a message has ({MAX_HEADER_BYTES})")
        self._writer.add(lane, [_LENGTH.pack(len(text)), text, *raw])
        self._schedule()

    def request(self, lane: int, header: Header, raw: Sequence[Bytes] = ()) -> asyncio.Future[Answer]:
        """Sends a request. The future fails with RemoteError."""
        future: asyncio.Future[Answer] = self._loop.create_future()
        if self._closed is not None:
            future.set_exception(_gone(self._closed))
            return future
        number = next(self._ids)
        # What cannot be sent has no answer to wait for.
        self.send(lane, {**header, "id": number}, raw)
        self._waiting[number] = future
        return future

    def answer(self, lane: int, number: int, ok: Any, raw: Sequence[Bytes] = ()) -> None:
        self.send(lane, {"t": "answer", "id": number, "ok": ok}, raw)

    def answer_error(self, lane: int, number: int, error: ErrorBody) -> None:
        self.send(lane, {"t": "answer", "id": number, "error": error})

    def refuse_unknown(self, header: Header) -> None:
        """Answers a request whose type is unknown here, so that a newer parent learns it at once."""
        if "id" in header:
            message = f"unknown message type {header['t']}"
            error: ErrorBody = {"kind": "unsupported", "error": "ProtocolError", "message": message}
            self.answer_error(header.get("use", 0), header["id"], error)

    def before_flush(self, produce: Callable[[], None]) -> None:
        """Calls `produce` right before the next write, so that what it sends goes out with it."""
        self._before_flush.append(produce)
        self._schedule()

    def flush(self) -> None:
        """Writes what has been sent so far."""
        if self._closed is not None or self._transport is None:
            return
        producers, self._before_flush = self._before_flush, []
        for produce in producers:
            produce()
        self._is_flush_scheduled = False
        while not self._is_paused and not self._writer.is_empty:
            self._transport.write(b"".join(self._writer.take()))
        if self._before_flush:
            self._schedule()

    def from_thread(self, work: Callable[[], None]) -> None:
        """Calls `work` on the thread of the event loop: at once where this is that thread."""
        if threading.get_ident() == self._thread:
            work()
            return
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:
            # The loop has ended, and nobody reads what would be sent.
            return

    def call_later(self, seconds: float, work: Callable[[], None]) -> None:
        """Calls `work` on the thread of the event loop after a while; may be called on any thread."""

        def call() -> None:
            self._loop.call_later(seconds, work)

        self.from_thread(call)

    def finish(self) -> None:
        """Sends what is left, and then closes the connection."""
        self.flush()
        if self._transport is not None:
            self._transport.close()

    def close(self, reason: str) -> None:
        if self._closed is not None:
            return
        self._closed = reason
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(_gone(reason))
        if self._transport is not None:
            self._transport.abort()
        self._on_close(reason)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._schedule()

    def data_received(self, data: bytes) -> None:
        try:
            messages = self._reader.push(data)
            received = [_decode(message) for message in messages]
        except (ProtocolViolationError, ValueError) as error:
            self.close(f"bytes that are not the protocol: {error}")
            return
        for header, raw in received:
            if header["t"] == "answer":
                self._take_answer(header, raw)
            else:
                self._on_message(header, raw)

    def eof_received(self) -> bool:
        self.close("the other side closed the connection")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.close(str(exc) if exc else "the connection closed")

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        self._schedule()

    def _take_answer(self, header: Header, raw: memoryview) -> None:
        future = self._waiting.pop(header["id"], None)
        if future is None or future.done():
            return
        error = header.get("error")
        if error:
            future.set_exception(RemoteError(error["kind"], error["error"], error["message"]))
            # Who sent the request need not wait for its answer.
            future.exception()
        else:
            future.set_result(Answer(header.get("ok"), raw))

    def _schedule(self) -> None:
        if not self._is_flush_scheduled and not self._is_paused and self._transport is not None:
            self._is_flush_scheduled = True
            # One write per turn of the event loop lets the messages of many runs share a system call.
            self._loop.call_soon(self.flush)


def _decode(message: bytes) -> tuple[Header, memoryview]:
    view = memoryview(message)
    (length,) = _LENGTH.unpack_from(view)
    header = decode_header(view[4 : 4 + length])
    if not isinstance(header.get("t"), str):
        raise ValueError("a message without a type")
    return header, view[4 + length :]


def _gone(reason: str) -> RemoteError:
    return RemoteError("gone", "HostGoneError", reason)
