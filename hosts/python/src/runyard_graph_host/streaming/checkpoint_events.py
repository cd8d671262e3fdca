"""Reports of LangGraph on checkpoints and tasks, in the form that clients know."""

from collections.abc import Mapping
from typing import Any

from .interrupts import streamed_interrupt

_PRIVATE = ("__", "langgraph_auth_", "svc_")


def checkpoint_event(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "config": public_config(payload.get("config")),
        "parent_config": public_config(payload.get("parent_config")),
        "values": payload.get("values"),
        "metadata": payload.get("metadata"),
        "next": payload.get("next"),
        "tasks": [_task_of_checkpoint(task) for task in payload.get("tasks") or ()],
    }


def task_event(task: Mapping[str, Any]) -> dict[str, Any]:
    if "interrupts" not in task:
        return dict(task)
    return {**task, "interrupts": [streamed_interrupt(interrupt) for interrupt in task["interrupts"] or ()]}


def debug_event(chunk: Mapping[str, Any]) -> dict[str, Any]:
    payload = chunk["payload"]
    if chunk.get("type") != "checkpoint":
        return {**chunk, "payload": task_event(payload)}
    about = {
        "checkpoint": checkpoint_of(payload.get("config")),
        "parent_checkpoint": checkpoint_of(payload.get("parent_config")),
    }
    return {**chunk, "payload": {**checkpoint_event(payload), **about}}


def checkpoint_of(config: Any) -> dict[str, Any] | None:
    """Returns the place that a config names, None when it names no thread.

    Without `checkpoint_id` the newest checkpoint of the namespace is meant.
    """
    configurable = config.get("configurable") if isinstance(config, Mapping) else None
    if not configurable or configurable.get("thread_id") is None:
        return None
    place = {"thread_id": configurable["thread_id"], "checkpoint_ns": configurable.get("checkpoint_ns") or ""}
    for key in ("checkpoint_id", "checkpoint_map"):
        if configurable.get(key) is not None:
            place[key] = configurable[key]
    return place


def public_config(config: Any) -> Any:
    """Returns a config without the runtime's own objects and without what identifies the caller."""
    if not isinstance(config, Mapping) or not isinstance(config.get("configurable"), Mapping):
        return None
    rest = {key: value for key, value in config.items() if key != "callbacks"}
    configurable = config["configurable"]
    return {
        **rest,
        "configurable": {key: value for key, value in configurable.items() if not str(key).startswith(_PRIVATE)},
    }


def _task_of_checkpoint(task: Mapping[str, Any]) -> dict[str, Any]:
    """Moves the checkpoint of a subgraph's task from `state`, where LangGraph has it, to `checkpoint`."""
    return {
        **task_event(task),
        "error": task.get("error"),
        "checkpoint": checkpoint_of(task.get("state")),
        "state": None,
    }
