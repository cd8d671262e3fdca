"""How a run ended in this process, and the message that says so."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..protocol.connection import HostConnection
from ..protocol.errors import ErrorBody, error_body
from ..serialization.wire_json import UnserializableValueError, to_wire_json
from ..streaming.interrupts import stored_interrupt

_NOTHING = object()


@dataclass(slots=True)
class Settlement:
    kind: Literal["done", "failed", "aborted", "drained"]
    values: Any = _NOTHING
    next_nodes: list[str] | None = None
    interrupts: dict[str, list[Any]] | None = None
    error: ErrorBody | None = None
    checkpoint_id: str | None = None
    # True when a function of the run goes on in a thread, which `run.stopped` will end.
    is_still_working: bool = False


def send_settlement(connection: HostConnection, use: int, settlement: Settlement) -> None:
    """Sends a failure instead when values or interrupts have no JSON form, or one that no message can hold."""
    values = interrupts = None
    try:
        if settlement.values is not _NOTHING:
            values = to_wire_json(settlement.values)
        if settlement.interrupts:
            interrupts = to_wire_json(settlement.interrupts)
        _send(connection, use, settlement, values, interrupts)
    except (UnserializableValueError, OverflowError) as error:
        failed = replace(settlement, kind="failed", error=error_body(error))
        _send(connection, use, failed, None, None)


def _send(
    connection: HostConnection, use: int, settlement: Settlement, values: bytes | None, interrupts: bytes | None
) -> None:
    header: dict[str, Any] = {
        "t": "run.settled",
        "use": use,
        "kind": settlement.kind,
        "valuesBytes": None if values is None else len(values),
        "interruptsBytes": None if interrupts is None else len(interrupts),
        "checkpointId": settlement.checkpoint_id,
    }
    if settlement.is_still_working:
        header["isStillWorking"] = True
    if settlement.next_nodes is not None:
        header["next"] = settlement.next_nodes
    if settlement.error is not None:
        header["error"] = settlement.error
    connection.send(use, header, [part for part in (values, interrupts) if part is not None])


def interrupts_by_task(tasks: Iterable[Any]) -> dict[str, list[Any]] | None:
    """Returns `{task id: [{id, value}]}` of the tasks that wait for an answer; None when none does."""
    waiting = {
        task.id: [stored_interrupt(interrupt) for interrupt in task.interrupts] for task in tasks if task.interrupts
    }
    return waiting or None
