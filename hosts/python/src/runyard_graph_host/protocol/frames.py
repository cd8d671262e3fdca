"""The lowest layer of the host protocol: messages as frames on a byte stream. It knows no event loop.

A frame is `u32 length | u32 stream | piece`, big-endian, where `length` counts everything after itself and is at most
256 KiB. Stream 0 carries a whole message in one frame. A larger message is cut into frames of one stream number, the
last of them with the highest bit of `stream` set. Messages of one lane never overtake each other; different lanes may.
"""

from collections import deque
from collections.abc import Sequence
from struct import Struct

MAX_FRAME_BYTES = 256 * 1024
_MAX_PIECE_BYTES = MAX_FRAME_BYTES - 4
_LAST_PIECE = 0x8000_0000
# V8 could not hold the text of a larger message.
_MAX_MESSAGE_BYTES = 1024 * 1024 * 1024
_HEAD = Struct(">II")

Bytes = bytes | bytearray | memoryview


class ProtocolViolationError(Exception):
    """Bytes arrived that no writer makes."""


class FrameWriter:
    """Cuts messages into frames. Whoever owns it decides when `take` is called, and writes what that returns."""

    def __init__(self) -> None:
        self._ready: list[Bytes] = []
        # Lanes with a message that is large, or that waits behind one.
        self._lanes: dict[int, deque[_Outgoing]] = {}
        self._next_stream = 1

    @property
    def is_empty(self) -> bool:
        return not self._ready and not self._lanes

    def add(self, lane: int, parts: Sequence[Bytes]) -> None:
        size = 0
        for part in parts:
            size += len(part)
        if size > _MAX_MESSAGE_BYTES:
            raise OverflowError(f"message of {size} bytes exceeds {_MAX_MESSAGE_BYTES}")
        if size <= _MAX_PIECE_BYTES and lane not in self._lanes:
            self._push(0, parts, size)
        else:
            self._lanes.setdefault(lane, deque()).append(_Outgoing(parts))

    def take(self) -> list[Bytes]:
        """Returns what can be written now: whole messages, and one piece of each lane that has large ones."""
        for lane in list(self._lanes):
            self._advance(lane)
        ready, self._ready = self._ready, []
        return ready

    def _advance(self, lane: int) -> None:
        queue = self._lanes[lane]
        outgoing = queue[0]
        if len(outgoing.message) <= _MAX_PIECE_BYTES:
            self._push(0, [outgoing.message], len(outgoing.message))
            is_last = True
        else:
            if outgoing.stream == 0:
                outgoing.stream = self._take_stream()
            piece = outgoing.message[outgoing.sent : outgoing.sent + _MAX_PIECE_BYTES]
            outgoing.sent += len(piece)
            is_last = outgoing.sent == len(outgoing.message)
            self._push(outgoing.stream | (_LAST_PIECE if is_last else 0), [piece], len(piece))
        if is_last:
            queue.popleft()
            if not queue:
                del self._lanes[lane]

    def _take_stream(self) -> int:
        stream = self._next_stream
        self._next_stream = 1 if stream >= _LAST_PIECE - 1 else stream + 1
        return stream

    def _push(self, stream: int, parts: Sequence[Bytes], size: int) -> None:
        self._ready.append(_HEAD.pack(size + 4, stream))
        self._ready.extend(parts)


class _Outgoing:
    """A message on its way. Its parts may still change until its first piece is taken."""

    __slots__ = ("_message", "_parts", "sent", "stream")

    def __init__(self, parts: Sequence[Bytes]) -> None:
        self._parts = parts
        self._message: memoryview | None = None
        # 0 until the first piece has been taken.
        self.stream = 0
        self.sent = 0

    @property
    def message(self) -> memoryview:
        if self._message is None:
            self._message = memoryview(b"".join(self._parts))
        return self._message


class FrameReader:
    """Puts messages together again."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._streams: dict[int, list[bytes]] = {}

    def push(self, data: bytes) -> list[bytes]:
        """Returns the messages that are whole now.

        Raises ProtocolViolationError for bytes that no writer makes.
        """
        pending = self._pending
        pending += data
        messages: list[bytes] = []
        position = 0
        end = len(pending)
        with memoryview(pending) as view:
            while end - position >= 8:
                length, stream = _HEAD.unpack_from(view, position)
                if length < 4 or length > MAX_FRAME_BYTES:
                    raise ProtocolViolationError(f"frame of {length} bytes")
                after = position + 4 + length
                if after > end:
                    break
                message = self._frame(stream, bytes(view[position + 8 : after]))
                if message is not None:
                    messages.append(message)
                position = after
        del pending[:position]
        return messages

    def _frame(self, stream: int, piece: bytes) -> bytes | None:
        if stream == 0:
            return piece
        number = stream & ~_LAST_PIECE
        if stream < _LAST_PIECE:
            self._streams.setdefault(number, []).append(piece)
            return None
        pieces = self._streams.pop(number, None)
        return piece if pieces is None else b"".join([*pieces, piece])
