"""Knows which run's code is executing, in tasks and threads that the run's code starts too."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RunIds:
    run_id: str
    thread_id: str
    graph_id: str


@dataclass(frozen=True, slots=True)
class RunningCode:
    """The run whose code executes, and for whom it asks others."""

    ids: RunIds
    # The place of the run in a trace.
    traceparent: str | None = None
    # The project's user whose run it is.
    user: dict[str, Any] | None = None


running_code: ContextVar[RunningCode | None] = ContextVar("runyard_running_code", default=None)


def ids_of_current_run() -> dict[str, str]:
    """Returns the ids as a log line has them; none for code that belongs to no run."""
    code = running_code.get()
    if code is None:
        return {}
    return {"runId": code.ids.run_id, "threadId": code.ids.thread_id, "graphId": code.ids.graph_id}
