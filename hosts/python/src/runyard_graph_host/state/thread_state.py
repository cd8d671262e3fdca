"""LangGraph's snapshots as the `ThreadState` of the wire."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import StateSnapshot

from ..serialization.wire_json import to_wire_json
from ..streaming.checkpoint_events import checkpoint_of
from ..streaming.interrupts import stored_interrupt


class StateText:
    """A state as JSON texts: `values`, which may be large, stand behind the rest."""

    __slots__ = ("bytes", "document", "parts")

    def __init__(self, state: Mapping[str, Any]) -> None:
        rest = {key: value for key, value in state.items() if key != "values"}
        self.parts = [to_wire_json(rest), to_wire_json(state["values"])]
        self.document = {"state": ("json", len(self.parts[0])), "values": ("json", len(self.parts[1]))}
        # Bytes of the whole state as one JSON text.
        self.bytes = len(self.parts[0]) + len(self.parts[1]) + len('"values":,')


def thread_state(snapshot: StateSnapshot, graph_id: str) -> dict[str, Any]:
    checkpoint = checkpoint_of(snapshot.config)
    parent = checkpoint_of(snapshot.parent_config)
    return {
        "values": {} if snapshot.values is None else snapshot.values,
        "next": list(snapshot.next),
        "tasks": [_task_state(task, graph_id) for task in snapshot.tasks],
        "metadata": _metadata_of(snapshot, checkpoint, graph_id),
        "created_at": snapshot.created_at,
        "checkpoint": checkpoint,
        "parent_checkpoint": parent,
        "interrupts": [stored_interrupt(interrupt) for task in snapshot.tasks for interrupt in task.interrupts],
        "checkpoint_id": _id_of(checkpoint),
        "parent_checkpoint_id": _id_of(parent),
    }


def _metadata_of(snapshot: StateSnapshot, checkpoint: dict[str, Any] | None, graph_id: str) -> dict[str, Any]:
    if snapshot.created_at is None:
        return {}
    metadata: Mapping[str, Any] = snapshot.metadata or {}
    return {
        **metadata,
        "thread_id": (checkpoint or {}).get("thread_id"),
        "checkpoint_id": _id_of(checkpoint),
        "graph_id": metadata.get("graph_id") or graph_id,
        "source": metadata.get("source"),
        "step": metadata.get("step"),
        "parents": metadata.get("parents") or {},
    }


def _task_state(task: Any, graph_id: str) -> dict[str, Any]:
    nested = task.state
    is_snapshot = isinstance(nested, StateSnapshot)
    error = task.error
    return {
        "id": task.id,
        "name": task.name,
        "path": list(task.path),
        "error": repr(error) if isinstance(error, BaseException) else error,
        "interrupts": [stored_interrupt(interrupt) for interrupt in task.interrupts],
        "checkpoint": None if is_snapshot else checkpoint_of(nested),
        "state": thread_state(nested, graph_id) if is_snapshot else None,
        "result": getattr(task, "result", None),
    }


def _id_of(checkpoint: Mapping[str, Any] | None) -> str | None:
    found: str | None = (checkpoint or {}).get("checkpoint_id")
    return found
