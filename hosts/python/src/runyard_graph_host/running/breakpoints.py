"""Breakpoints at which a run waits for somebody to have it go on."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig

from ..loading.loaded_graph import Graph
from ..storage.interrupt_answers import Load
from ..storage.values import StoredCheckpoint
from .run_config import Request, newest_state_config

_START = "__start__"
_HIDDEN = "langsmith:hidden"
_SEEN_BY_BREAKPOINTS = "__interrupt__"

# Names of nodes; "*" for all of them.
Nodes = Sequence[str] | str


async def find_breakpoint(
    graph: Graph, config: RunnableConfig, request: Request, newest: StoredCheckpoint, load: Load
) -> Any:
    """Returns the state at which a run has stopped that is attempted again; None when it may go on.

    An attempt goes on without an input, by which LangGraph passes whatever breakpoint there is: so do clients that have
    seen it. Here nobody has, as the end of the run was lost.
    """
    before = _nodes_of(request.get("interruptBefore"), getattr(graph, "interrupt_before_nodes", ()))
    after = _nodes_of(request.get("interruptAfter"), getattr(graph, "interrupt_after_nodes", ()))
    if not (before or after) or not _is_unseen(load(newest.checkpoint)):
        return None
    state = await graph.aget_state(newest_state_config(config))
    if not state.next:
        return None
    if _is_any_among(state.next, before, graph):
        return state
    if after and _is_any_among(await _last_nodes(graph, config, state), after, graph):
        return state
    return None


def _nodes_of(asked: Nodes | None, compiled: Nodes | None) -> Nodes:
    return asked if asked is not None else compiled or ()


def _is_unseen(checkpoint: Mapping[str, Any]) -> bool:
    seen = checkpoint["versions_seen"].get(_SEEN_BY_BREAKPOINTS, {})
    versions: Mapping[str, Any] = checkpoint["channel_versions"]
    return any(channel not in seen or version > seen[channel] for channel, version in versions.items())


def _is_any_among(names: Sequence[str], nodes: Nodes, graph: Graph) -> bool:
    if nodes == "*":
        return any(_is_shown(name, graph) for name in names)
    return any(name in nodes for name in names)


def _is_shown(name: str, graph: Graph) -> bool:
    node = getattr(graph, "nodes", {}).get(name)
    return name != _START and _HIDDEN not in (getattr(node, "tags", None) or ())


async def _last_nodes(graph: Graph, config: RunnableConfig, state: Any) -> Sequence[str]:
    """Returns the nodes that made a state: those that were next at the one before."""
    if (state.metadata or {}).get("source") != "loop" or state.parent_config is None:
        return ()
    newest = newest_state_config(config)
    configurable = {**newest["configurable"], **state.parent_config["configurable"]}
    parent = await graph.aget_state({"configurable": configurable})
    return [task.name for task in parent.tasks]
