"""The golden frames are for hosts in every language."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from runyard_graph_host.protocol.frames import MAX_FRAME_BYTES, FrameReader, FrameWriter, ProtocolViolationError
from runyard_graph_host.protocol.header_json import encode_header

GOLDEN = Path(__file__).parents[3] / "packages/host-protocol/golden/frames.jsonl"
FRAMES = [json.loads(line) for line in GOLDEN.read_text().splitlines()]


def split(message: bytes) -> dict[str, Any]:
    length = int.from_bytes(message[:4], "big")
    return {"header": json.loads(message[4 : 4 + length]), "raw": base64.b64encode(message[4 + length :]).decode()}


@pytest.mark.parametrize("golden", FRAMES, ids=lambda golden: golden["name"])
@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_a_reader_reads_golden_frames_in_pieces_of_any_size(golden: dict[str, Any], size: int) -> None:
    data = base64.b64decode(golden["bytes"])
    reader = FrameReader()
    read = [message for at in range(0, len(data), size) for message in reader.push(data[at : at + size])]
    assert [split(message) for message in read] == golden["messages"]


@pytest.mark.parametrize("golden", FRAMES[:4], ids=lambda golden: golden["name"])
def test_a_writer_writes_golden_frames(golden: dict[str, Any]) -> None:
    writer = FrameWriter()
    for message in golden["messages"]:
        text = encode_header(message["header"])
        writer.add(0, [len(text).to_bytes(4, "big"), text, base64.b64decode(message["raw"])])
    assert base64.b64encode(b"".join(writer.take())).decode() == golden["bytes"]


def test_small_messages_of_other_lanes_pass_between_the_pieces_of_a_large_one() -> None:
    writer = FrameWriter()
    large, small = b"x" * (3 * MAX_FRAME_BYTES), b"small"
    writer.add(1, [large])
    writer.add(1, [b"behind it"])
    reader = FrameReader()
    reader.push(b"".join(writer.take()))
    writer.add(2, [small])
    read: list[bytes] = []
    while not writer.is_empty:
        read += reader.push(b"".join(writer.take()))
    assert [len(message) for message in read] == [len(small), len(large), len(b"behind it")]


def test_a_part_of_a_large_message_may_be_filled_in_until_it_is_taken() -> None:
    writer = FrameWriter()
    slot = bytearray(8)
    writer.add(1, [b"x" * (2 * MAX_FRAME_BYTES), slot])
    slot[:] = b"position"
    reader = FrameReader()
    read: list[bytes] = []
    while not writer.is_empty:
        read += reader.push(b"".join(writer.take()))
    assert read[0].endswith(b"position")


def test_a_frame_that_no_writer_makes_is_refused() -> None:
    with pytest.raises(ProtocolViolationError):
        FrameReader().push((2**31).to_bytes(4, "big") + bytes(4))
