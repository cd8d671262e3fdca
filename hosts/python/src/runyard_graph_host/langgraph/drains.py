"""Stopping a graph at a step boundary, which LangGraph can from 1.2.15 on without passing over a breakpoint."""

from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

from .names import TASK_ID_KEY

try:
    from langgraph.errors import GraphDrained
    from langgraph.runtime import RunControl
except ImportError:
    RunControl: Any = None  # type: ignore[no-redef] # Older lines have none.

    class GraphDrained(Exception):  # type: ignore[no-redef]  # noqa: N818 - the name is LangGraph's
        """Is raised by no older line."""


if RunControl is None:
    TopLevelControl: Any = None
else:

    class TopLevelControl(RunControl):  # type: ignore[no-redef] # Older lines have none.
        """Is visible to the graph of the run alone.

        A drain inside a subgraph with durability exit would lose what that has done.
        """

        __slots__ = ()

        @property
        def drain_requested(self) -> bool:
            return self._drain_reason is not None and not _is_inside_a_task()


def _is_inside_a_task() -> bool:
    config = var_child_runnable_config.get()
    return config is not None and TASK_ID_KEY in config.get("configurable", {})


__all__ = ["GraphDrained", "TopLevelControl"]
