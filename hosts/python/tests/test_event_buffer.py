"""Events wait for the puts of their checkpoints, and not for those that never come."""

import asyncio
import time
from typing import Any

import pytest

from fake_parent import LIMITS
from runyard_graph_host.streaming import event_buffer
from runyard_graph_host.streaming.event_buffer import EventBuffer
from runyard_graph_host.streaming.rendered_event import RenderedEvent

LOOKS_EVERY = 0.001


class FakeConnection:
    """Keeps the events that would be sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def before_flush(self, produce: Any) -> None:
        asyncio.get_running_loop().call_soon(produce)

    def send(self, _lane: int, header: dict[str, Any], _raw: Any) -> None:
        self.sent += [event for _, event, _ in header["events"]]


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_buffer, "_LOOKS_EVERY", LOOKS_EVERY)


def open_buffer() -> tuple[EventBuffer, FakeConnection, list[str]]:
    connection: Any = FakeConnection()
    warnings: list[str] = []
    fail: Any = pytest.fail
    buffer = EventBuffer(connection, 1, LIMITS, on_overflow=fail, warn=warnings.append)
    buffer.await_put("a")
    buffer.push(RenderedEvent("values", "values", b"{}"))
    return buffer, connection, warnings


async def test_a_put_that_never_comes_is_given_up_with_a_warning() -> None:
    buffer, connection, warnings = open_buffer()
    await buffer.wait_until_empty()
    assert connection.sent == ["values"]
    assert len(warnings) == 1


async def test_an_event_loop_that_stands_still_makes_no_put_late() -> None:
    buffer, connection, warnings = open_buffer()
    time.sleep(50 * LOOKS_EVERY)  # noqa: ASYNC251
    # The put is sent by a task that needs some turns of the loop.
    for _ in range(3):
        await asyncio.sleep(0)
    assert (connection.sent, warnings) == ([], [])
    buffer.know_put("a")
    await buffer.wait_until_empty()
    assert (connection.sent, warnings) == (["values"], [])
