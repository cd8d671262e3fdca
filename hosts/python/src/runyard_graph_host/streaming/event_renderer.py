"""Turns what a graph streams into events of the v1 stream."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from ..langgraph.names import INTERRUPT
from ..serialization.wire_json import to_wire_json, to_wire_json_or
from .checkpoint_events import checkpoint_event, debug_event, task_event
from .interrupts import interrupts_of, with_interrupt_schema
from .message_events import MessageEvents
from .rendered_event import RenderedEvent

Emit = Callable[[RenderedEvent], None]
Namespace = Sequence[str]


class EventRenderer:
    """Renders the modes that were asked for, and remembers from all of them how the root graph ended."""

    def __init__(self, asked_modes: Iterable[str], emit: Emit) -> None:
        self._modes = frozenset(asked_modes)
        self._emit = emit
        self._messages = MessageEvents(self._emit_message) if "messages" in self._modes else None
        # The root graph's newest values; None before the first.
        self.root_values: Any = None
        self._has_root_values = False
        # Interrupts of the root graph since it has run.
        self.root_interrupts: list[Any] = []
        # The nodes that would run next, by the root graph's newest checkpoint.
        self.next_nodes: list[str] = []

    @property
    def graph_modes(self) -> list[str]:
        """The modes to ask the graph for.

        The final values are the run's result, and checkpoints say whether the graph has stopped on its way.
        """
        modes = {"values": None, "checkpoints": None}
        for mode in self._modes:
            if mode == "messages-tuple":
                modes["messages"] = None
            elif mode != "events":
                modes[mode] = None
        return list(modes)

    @property
    def has_root_values(self) -> bool:
        return self._has_root_values

    def render(self, namespace: Namespace, mode: str, payload: Any) -> None:
        if mode == "values":
            self._render_values(namespace, payload)
        elif mode == "checkpoints":
            self._render_checkpoint(namespace, payload)
        elif mode == "messages":
            self._render_message(namespace, payload)
        elif mode == "updates":
            if not namespace and INTERRUPT in payload:
                self._add_interrupts(payload[INTERRUPT])
            self._send(mode, namespace, with_interrupt_schema(payload))
        elif mode == "tasks":
            self._send(mode, namespace, task_event(payload))
        elif mode == "debug":
            self._send(mode, namespace, debug_event(payload))
        else:
            self._send(mode, namespace, payload)

    def stop_at(self, values: Any, next_nodes: Iterable[str]) -> None:
        """Shows what a graph shows that stops at a breakpoint."""
        self.render((), "values", values)
        self.render((), "updates", {INTERRUPT: ()})
        self.next_nodes = list(next_nodes)

    def render_streamed_event(self, event: Mapping[str, Any]) -> None:
        """Renders an event of mode `events`: what runnables inside the graph report."""
        about = {key: event.get(key) for key in ("name", "run_id", "tags", "metadata", "parent_ids")}
        name = event["event"]
        data = to_wire_json_or({"event": name, "data": event["data"], **about}, {"event": name, "data": {}, **about})
        self._emit(RenderedEvent("events", "events", data))

    def _render_values(self, namespace: Namespace, payload: Any) -> None:
        interrupts = interrupts_of(payload)
        if not namespace:
            if interrupts is None:
                self.root_values, self._has_root_values = payload, True
            else:
                self._add_interrupts(interrupts)
                rest = {key: value for key, value in payload.items() if key != INTERRUPT}
                if rest:
                    self.root_values, self._has_root_values = rest, True
                elif isinstance(self.root_values, dict):
                    # Lines before 1.0.4 stream the interrupt alone.
                    payload = {**self.root_values, **payload}
        if "values" in self._modes:
            self._send("values", namespace, with_interrupt_schema(payload))

    def _add_interrupts(self, interrupts: Iterable[Any]) -> None:
        known = {getattr(interrupt, "id", None) for interrupt in self.root_interrupts}
        self.root_interrupts.extend(
            interrupt for interrupt in interrupts if getattr(interrupt, "id", None) not in known
        )

    def _render_checkpoint(self, namespace: Namespace, payload: Mapping[str, Any]) -> None:
        if not namespace:
            self.next_nodes = list(payload.get("next") or ())
        if "checkpoints" in self._modes:
            self._send("checkpoints", namespace, checkpoint_event(payload))

    def _render_message(self, namespace: Namespace, payload: tuple[Any, dict[str, Any]]) -> None:
        message, metadata = payload
        if not isinstance(message, BaseMessage):
            return
        if "messages-tuple" in self._modes:
            data = to_wire_json([message, metadata])
            self._emit(RenderedEvent("messages-tuple", event_name("messages", namespace), data))
        if self._messages is not None:
            self._messages.add(message, metadata)

    def _emit_message(self, event: str, data: Any, supersedes: str | None) -> None:
        self._emit(RenderedEvent("messages", event, to_wire_json(data), supersedes))

    def _send(self, mode: str, namespace: Namespace, data: Any) -> None:
        if mode in self._modes:
            self._emit(RenderedEvent(mode, event_name(mode, namespace), to_wire_json(data)))


def event_name(mode: str, namespace: Namespace) -> str:
    return "|".join((mode, *namespace)) if namespace else mode
