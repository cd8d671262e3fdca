"""Interrupts, as clients find them in streams and in states."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..langgraph.names import INTERRUPT

_FIELDS = ("id", "value", "response_schema")


def interrupts_of(payload: Any) -> Sequence[Any] | None:
    """Returns the interrupts that values have beside the state; None where there are none."""
    interrupts = payload.get(INTERRUPT) if isinstance(payload, dict) else None
    return interrupts if isinstance(interrupts, list | tuple) else None


def with_interrupt_schema(payload: Any) -> Any:
    """Adds the missing keys of interrupts, so that clients of every language find the same ones."""
    interrupts = interrupts_of(payload)
    if interrupts is None:
        return payload
    return {**payload, INTERRUPT: [streamed_interrupt(interrupt) for interrupt in interrupts]}


def stored_interrupt(interrupt: Any) -> dict[str, Any]:
    """Returns an interrupt as states have it: with the schema of the answer where the graph gave one."""
    fields = streamed_interrupt(interrupt)
    if fields["response_schema"] is None:
        del fields["response_schema"]
    return fields


def streamed_interrupt(interrupt: Any) -> dict[str, Any]:
    """Returns an interrupt as streams have it."""
    if isinstance(interrupt, Mapping):
        return {name: interrupt.get(name) for name in _FIELDS}
    return {name: getattr(interrupt, name, None) for name in _FIELDS}
