"""Reads and writes of a thread's state outside a run."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langgraph.errors import InvalidUpdateError
from langgraph.types import StateSnapshot, StateUpdate

from ..loading.loaded_graph import AccessContext, Graph, GraphUse, LoadedGraph
from ..loading.project_user import user_of
from ..protocol.connection import HostConnection
from ..protocol.errors import BackendError, GraphRequestError, error_body
from ..running.run_command import to_command
from ..serialization.serializer import PlainSerializer, StateSerializer
from ..storage.portal import Portal
from ..storage.remote_checkpoints import RemoteCheckpoints
from ..storage.saver import RunyardSaver
from ..storage.store import RunyardStore
from ..streaming.checkpoint_events import checkpoint_of
from .thread_state import StateText, thread_state

# The number of states that are read at once where their bytes are limited.
_BOUNDED_PAGE = 4

Request = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StateRequests:
    """What all state requests of a host share."""

    connection: HostConnection
    portal: Portal
    serializer: StateSerializer
    # State is read without its classes.
    plain: PlainSerializer

    async def get(self, graph: LoadedGraph, use: int, request: Request) -> list[StateText]:
        async with self._open(graph, use, request, "threads.read") as opened:
            snapshot = await opened.aget_state(_config_of(request), subgraphs=bool(request.get("subgraphs")))
            return [StateText(thread_state(snapshot, graph.graph_id))]

    async def history(self, graph: LoadedGraph, use: int, request: Request) -> list[StateText]:
        """Returns states, newest first, until there are no more, or enough of them, or too many bytes of them."""
        limit, max_bytes = int(request["limit"]), request.get("maxBytes")
        # The channels of a subgraph are not those of the graph.
        keys = request.get("keys") if not request.get("checkpointNs") else None
        states: list[StateText] = []
        size = len("[")
        before = request.get("beforeCheckpointId")
        async with self._open(graph, use, request, "threads.read", keys) as opened:
            while len(states) < limit:
                wanted = limit - len(states) if max_bytes is None else min(_BOUNDED_PAGE, limit - len(states))
                listed = await _list_states(opened, request, wanted, before)
                for snapshot in listed:
                    state = StateText(thread_state(snapshot, graph.graph_id))
                    size += state.bytes + len(",")
                    if states and max_bytes is not None and size > max_bytes:
                        return states
                    states.append(state)
                    before = snapshot.config["configurable"].get("checkpoint_id")
                if len(listed) < wanted or before is None:
                    break
        return states

    async def update(self, graph: LoadedGraph, use: int, request: Request) -> dict[str, Any]:
        """Returns `{checkpoint, configurable, checkpoint_id}` of the checkpoint that was written last."""
        one = {"values": request.get("values"), "as_node": request.get("asNode")}
        supersteps = request.get("supersteps") or [{"updates": [one]}]
        config: Any = _config_of(request)
        async with self._open(graph, use, request, "threads.update") as opened:
            for number, superstep in enumerate(supersteps):
                updates = [
                    StateUpdate(_values_of(update), update.get("as_node"), None) for update in superstep["updates"]
                ]
                try:
                    config = await opened.abulk_update_state(config, [updates])
                except Exception as cause:
                    raise _update_error(cause, number, updates) from cause
        checkpoint = checkpoint_of(config)
        checkpoint_id = (checkpoint or {}).get("checkpoint_id")
        return {"checkpoint": checkpoint, "configurable": checkpoint, "checkpoint_id": checkpoint_id}

    @asynccontextmanager
    async def _open(
        self,
        loaded: LoadedGraph,
        use: int,
        request: Request,
        access: AccessContext,
        keys: list[str] | None = None,
    ) -> AsyncIterator[Graph]:
        """Gives a view of the graph that has the saver and store of this request where LangGraph looks for them."""
        given = request.get("config") or {}
        configurable = {**given.get("configurable", {}), "thread_id": request["threadId"]}
        store = RunyardStore(self.connection, use, self.portal)
        user = user_of(configurable)
        if user is not None:
            configurable["langgraph_auth_user"] = user
        graph_use = GraphUse(access, {**given, "configurable": configurable}, store, user)
        async with loaded.use(graph_use) as graph:
            saver = RunyardSaver(
                RemoteCheckpoints(self.connection, use),
                self.portal,
                self.serializer if access == "threads.update" else self.plain,
                unneeded=[] if keys is None else _unneeded_channels(graph, keys),
            )
            yield graph.copy({"checkpointer": saver, "store": store})


async def _list_states(graph: Graph, request: Request, limit: int, before: str | None) -> list[StateSnapshot]:
    options: dict[str, Any] = {"limit": limit}
    if request.get("metadata"):
        options["filter"] = request["metadata"]
    if before is not None:
        options["before"] = {"configurable": {"thread_id": request["threadId"], "checkpoint_id": before}}
    return [snapshot async for snapshot in graph.aget_state_history(_config_of(request), **options)]


def _config_of(request: Request) -> Any:
    configurable = {"thread_id": request["threadId"], "checkpoint_ns": request.get("checkpointNs") or ""}
    if request.get("checkpointId") is not None:
        configurable["checkpoint_id"] = request["checkpointId"]
    return {"configurable": configurable}


def _values_of(update: Mapping[str, Any]) -> Any:
    command = update.get("command")
    return update.get("values") if command is None else to_command(command)


def _update_error(cause: Exception, superstep: int, updates: list[StateUpdate]) -> GraphRequestError:
    """Names the node of a refused update in the error."""
    body = error_body(cause)
    nodes = [update.as_node for update in updates]
    refused = next(
        (node for node in nodes if node is not None and node in body["message"]), nodes[0] if nodes else None
    )
    if isinstance(cause, BackendError):
        reason = cause.reason
    else:
        reason = "bad_request" if isinstance(cause, InvalidUpdateError) else "failed"
    step = {"superstep": superstep, "asNode": refused}
    return GraphRequestError(reason, body["message"], body["error"], step)  # type: ignore[arg-type] # It is a dict.


def _unneeded_channels(graph: Graph, keys: list[str]) -> list[str]:
    """Returns the channels of keys that nobody needs. The triggers of nodes say which nodes come next."""
    channels = graph.stream_channels_asis
    if isinstance(channels, str):
        return []
    needed = {*keys, *(trigger for node in graph.nodes.values() for trigger in node.triggers)}
    return [channel for channel in channels if channel not in needed]
