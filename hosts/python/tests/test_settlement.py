"""How the end of a run reaches the parent."""

from typing import Any

from runyard_graph_host.running.settlement import Settlement, send_settlement


class _SmallConnection:
    """Takes no message with values."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, _use: int, header: dict[str, Any], parts: list[bytes]) -> None:
        if parts:
            raise OverflowError("message of 2 bytes exceeds 1")
        self.sent.append(header)


def test_a_run_whose_values_are_too_large_for_a_message_fails_with_that_reason() -> None:
    connection = _SmallConnection()
    send_settlement(connection, 7, Settlement("done", values={"a": 1}))  # type: ignore[arg-type]
    (header,) = connection.sent
    assert (header["kind"], header["valuesBytes"]) == ("failed", None)
    assert "exceeds" in header["error"]["message"]
