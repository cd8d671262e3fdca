"""Makes the events of the event protocol (version 2) from what LangGraph streams."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ..langgraph.message_blocks import events_of_message
from ..langgraph.names import INTERRUPT
from ..serialization.wire_json import to_wire_json, to_wire_json_or
from .checkpoint_events import task_event
from .rendered_event import RenderedEvent

Namespace = Sequence[str]

# The modes that the events are made from.
PROTOCOL_MODES = ["values", "updates", "messages", "tools", "custom", "tasks", "checkpoints"]


class ProtocolEvents:
    def __init__(self, emit: Callable[[RenderedEvent], None]) -> None:
        self._emit = emit
        self._lifecycles = _NamespaceLifecycles()
        # Ids of the interrupts whose request was emitted: each surrounding graph reports them again.
        self._requested: set[Any] = set()

    def add(self, namespace: Namespace, mode: str, payload: Any, interrupts: Sequence[Any] = ()) -> None:
        if mode != "checkpoints":
            for begun in self._lifecycles.begin(namespace):
                self._send_lifecycle(begun, "started")
        if mode == "values":
            self._request_inputs(namespace, interrupts)
            if payload or not interrupts:
                self._send("values", namespace, payload)
        elif mode == "updates":
            self._add_updates(namespace, payload)
        elif mode == "messages":
            data, metadata = payload
            for event in events_of_message(data):
                self._send("messages", namespace, event, metadata.get("langgraph_node"))
        elif mode == "tools":
            self._add_tool_event(namespace, payload)
        elif mode == "tasks":
            self._send("tasks", namespace, task_event(payload))
            self._end_lifecycle(namespace, payload)
        elif mode == "checkpoints":
            self._send("checkpoints", namespace, _envelope_of(payload))
        elif mode == "custom":
            name, data = _custom_of(payload)
            self._send("custom", namespace, data, custom_name=name)

    def end(self, status: str) -> None:
        """Ends the namespaces that are open, the inner ones first."""
        for namespace in self._lifecycles.take_open():
            self._send_lifecycle(namespace, status)

    def _add_updates(self, namespace: Namespace, payload: Mapping[str, Any]) -> None:
        for node, written in payload.items():
            if node == INTERRUPT:
                self._request_inputs(namespace, written)
            else:
                values = written if isinstance(written, Mapping) else {"value": written}
                self._send("updates", namespace, {"node": node, "values": values}, node)

    def _request_inputs(self, namespace: Namespace, interrupts: Sequence[Any]) -> None:
        for interrupt in interrupts:
            interrupt_id = getattr(interrupt, "id", None)
            if interrupt_id is None or interrupt_id in self._requested:
                continue
            self._requested.add(interrupt_id)
            self._send("input", namespace, {"interrupt_id": interrupt_id, "payload": interrupt.value})

    def _add_tool_event(self, namespace: Namespace, payload: Mapping[str, Any]) -> None:
        about = {key: payload[key] for key in ("event", "tool_call_id", "tool_name") if key in payload}
        timestamp = _now()
        data = to_wire_json_or(
            {"timestamp": timestamp, "data": payload}, {"timestamp": timestamp, "data": {**about, "output": None}}
        )
        self._emit(RenderedEvent("v2.tools", _event_name("tools", namespace), data))

    def _end_lifecycle(self, namespace: Namespace, task: Mapping[str, Any]) -> None:
        if "result" not in task:
            return
        ended = self._lifecycles.end([*namespace, f"{task['name']}:{task['id']}"])
        if ended is not None:
            self._send_lifecycle(ended, "failed" if task.get("error") else "completed")

    def _send_lifecycle(self, namespace: Namespace, event: str) -> None:
        data = {"event": event, "graph_name": namespace[-1].split(":")[0]}
        self._send("lifecycle", namespace, data)

    def _send(
        self, channel: str, namespace: Namespace, data: Any, node: str | None = None, custom_name: str | None = None
    ) -> None:
        body = {"timestamp": _now(), **({} if node is None else {"node": node}), "data": data}
        name = _event_name(_method_of(channel, custom_name), namespace)
        self._emit(RenderedEvent(f"v2.{channel}", name, to_wire_json(body)))


class _NamespaceLifecycles:
    """Knows where the tasks of a graph begin and end, by the namespaces of what it streams."""

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._ended: set[str] = set()

    def begin(self, namespace: Namespace) -> Iterator[list[str]]:
        for length in range(1, len(namespace) + 1):
            part = list(namespace[:length])
            key = "|".join(part)
            if key not in self._open and key not in self._ended:
                self._open[key] = part
                yield part

    def end(self, namespace: Namespace) -> list[str] | None:
        key = "|".join(namespace)
        self._ended.add(key)
        return self._open.pop(key, None)

    def take_open(self) -> list[list[str]]:
        left = list(reversed(self._open.values()))
        self._open.clear()
        return left


def _method_of(channel: str, custom_name: str | None) -> str:
    if custom_name is not None:
        return f"custom:{quote(custom_name, safe='')}"
    return "input.requested" if channel == "input" else channel


def _event_name(method: str, namespace: Namespace) -> str:
    return "|".join((method, *namespace))


def _envelope_of(payload: Mapping[str, Any]) -> dict[str, Any]:
    metadata = payload.get("metadata") or {}
    envelope = {"id": _checkpoint_id(payload.get("config"))}
    parent = _checkpoint_id(payload.get("parent_config"))
    if parent is not None:
        envelope["parent_id"] = parent
    return {**envelope, "step": metadata.get("step"), "source": metadata.get("source")}


def _checkpoint_id(config: Any) -> str | None:
    found: str | None = ((config or {}).get("configurable") or {}).get("checkpoint_id")
    return found


def _custom_of(payload: Any) -> tuple[str | None, dict[str, Any]]:
    """Reads what a node wrote: only `{name, payload}` is an event of a channel of its own."""
    if isinstance(payload, Mapping) and set(payload) == {"name", "payload"} and isinstance(payload["name"], str):
        return payload["name"], dict(payload)
    return None, {"payload": payload}


def _now() -> int:
    return int(time.time() * 1000)
