"""One attempt of a run."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig

from ..langgraph.drains import GraphDrained, TopLevelControl
from ..langgraph.emissions import EmissionCounter
from ..langgraph.names import INTERRUPT, STREAM_KEY
from ..loading.loaded_graph import Graph, GraphUse, LoadedGraph
from ..loading.project_user import user_of
from ..protocol.connection import HostConnection
from ..protocol.errors import BackendError, error_body
from ..serialization.serializer import StateSerializer
from ..spans.run_spans import RunSpans
from ..spans.span_recorder import SpanRecorder
from ..storage.portal import Portal
from ..storage.remote_checkpoints import RemoteCheckpoints
from ..storage.saver import RunyardSaver
from ..storage.store import RunyardStore
from ..streaming.event_buffer import EventBuffer, Limits
from ..streaming.event_renderer import EventRenderer
from ..streaming.interrupts import streamed_interrupt
from ..streaming.protocol_events import PROTOCOL_MODES, ProtocolEvents
from ..usage.run_usage import RunUsage
from .breakpoints import find_breakpoint
from .graph_streams import Execution, stream_events, stream_modes, stream_protocol
from .run_config import (
    Request,
    checkpoint_metadata,
    fit_context,
    newest_state_config,
    run_config,
)
from .run_start import RunStart, decide_start, start_fresh
from .settlement import Settlement, interrupts_by_task, send_settlement
from .tracing import trace_of

# Positions of a run's stream: the attempt, then the events that its graph had emitted.
_EVENTS_MAX = 2**32
# Modes of which a step has an event behind its checkpoint.
_STEP_MODES = frozenset(("values", "updates", "checkpoints", "tasks", "debug"))


@dataclass(frozen=True, slots=True)
class RunParts:
    """What all runs of a host share."""

    connection: HostConnection
    portal: Portal
    serializer: StateSerializer
    limits: Limits
    public_url: str | None
    on_thrown: Callable[[BaseException], None]
    """Gets what the code of a graph has raised, before its run is settled."""


class GraphRun:
    """Sends exactly one settlement, whatever the graph's code does and even when its output cannot be encoded."""

    def __init__(
        self, parts: RunParts, use: int, request: Request, graph: LoadedGraph, *, has_checkpoints: bool
    ) -> None:
        self._parts = parts
        self._use = use
        self._request = request
        self._graph = graph
        self._task: asyncio.Task[Settlement] | None = None
        self._abort_reason: str | None = None
        self._is_draining = False
        # The error that ends the run although its graph could go on.
        self._failure: BaseException | None = None
        # The graph of the run and its config, once it is executed.
        self._executed: tuple[Graph, RunnableConfig] | None = None
        self._control = TopLevelControl() if TopLevelControl is not None else None
        self._has_ended_a_step = False
        self._buffer = EventBuffer(parts.connection, use, parts.limits, on_overflow=self.fail, warn=graph.warn)
        # Set when the run emits events of the event protocol; then the renderer emits none.
        self._protocol = ProtocolEvents(self._buffer.push) if request.get("emitsProtocolEvents") else None
        self._modes: list[str] = [] if self._protocol is not None else request["streamModes"]
        self._renderer = EventRenderer(self._modes, self._buffer.push)
        modes = PROTOCOL_MODES if self._protocol is not None else self._modes
        self._emissions = EmissionCounter(_STEP_MODES.intersection(modes))
        self._usage = RunUsage(parts.connection, use)
        self._checkpoints = self._open_checkpoints() if has_checkpoints else None
        # None unless somebody wants the spans of the run.
        self._spans: SpanRecorder | None = None
        if (spans := request.get("spans")) is not None:
            self._spans = SpanRecorder(parts.connection, use, with_content=spans["withContent"])

    @property
    def run_id(self) -> str:
        run_id: str = self._request["runId"]
        return run_id

    def grant(self, credit: int) -> None:
        self._buffer.grant(credit)

    def abort(self, reason: str) -> None:
        if self._abort_reason is None:
            self._abort_reason = reason
            self._cancel()

    def drain(self) -> None:
        """Stops at the next step boundary.

        Where the project's LangGraph cannot do that, it stops at once: the last checkpoint is enough to go on.
        """
        self._is_draining = True
        if self._control is None:
            self._cancel()
        elif self._has_ended_a_step or self._checkpoints is None:
            # Before the first step is in a checkpoint, a command would be applied twice.
            self._control.request_drain()

    def fail(self, error: BaseException) -> None:
        """Ends the run with this error, whatever its graph returns."""
        if self._failure is None:
            self._failure = error
            self._cancel()

    async def execute(self) -> Settlement:
        """Returns once all events are on their way."""
        self._task = asyncio.create_task(self._run_graph(), name=f"run {self.run_id}")
        if self._abort_reason is not None or self._failure is not None:
            self._task.cancel()
        await asyncio.wait([self._task])
        settlement = await self._settlement_of(self._task)
        if self._spans is not None:
            self._spans.close()
        self._usage.report()
        self._buffer.stop_awaiting_puts()
        await self._buffer.wait_until_empty()
        return settlement

    def send(self, settlement: Settlement, *, is_still_working: bool) -> None:
        if self._checkpoints is not None:
            settlement.checkpoint_id = self._checkpoints.last_root_checkpoint_id
        settlement.is_still_working = is_still_working
        send_settlement(self._parts.connection, self._use, settlement)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run_graph(self) -> Settlement:
        request = self._request
        start, saver = await self._start()
        store = RunyardStore(self._parts.connection, self._use, self._parts.portal)
        config = run_config(
            request,
            is_resuming=start.is_resuming,
            saver=saver,
            store=store,
            public_url=self._parts.public_url,
            callbacks=self._callbacks(),
        )
        user = user_of(request["config"]["configurable"])
        context = request.get("context")
        use = GraphUse("threads.create_run", _factory_config(config), store, user, context)
        # What it sets ends with the task of this run.
        with trace_of(request):
            return await self._execute_in(use, start, config, context)

    async def _execute_in(self, use: GraphUse, start: RunStart, config: RunnableConfig, context: Any) -> Settlement:
        async with self._graph.use(use) as graph:
            self._executed = (graph, config)
            context = fit_context(getattr(graph, "context_schema", None), context)
            if not await self._is_stopped(graph, start, config):
                await self._stream(graph, start.input, config, context)
            if self._checkpoints is not None:
                await self._checkpoints.wait_for_writes()
            if self._failure is not None or self._abort_reason is not None:
                raise asyncio.CancelledError
            return await self._done(graph, config)

    async def _is_stopped(self, graph: Graph, start: RunStart, config: RunnableConfig) -> bool:
        if start.newest is None:
            return False
        load = self._parts.serializer.loads_typed
        state = await find_breakpoint(graph, config, self._request, start.newest, load)
        if state is None:
            return False
        self._renderer.stop_at(state.values, state.next)
        return True

    def _callbacks(self) -> list[Any]:
        if self._spans is None:
            return [self._usage]
        return [RunSpans(self._request, self._request["spans"]["parentSpanId"], self._spans), self._usage]

    async def _start(self) -> tuple[RunStart, RunyardSaver | None]:
        request, checkpoints = self._request, self._checkpoints
        if checkpoints is None:
            return start_fresh(request), None
        serializer = self._parts.serializer
        start = await decide_start(request, checkpoints, serializer.loads_typed)
        is_repeated = request["durability"] == "exit" and not start.is_resuming
        saver = RunyardSaver(
            checkpoints,
            self._parts.portal,
            serializer,
            metadata=checkpoint_metadata(request),
            is_hidden=self._is_of_earlier_attempt if is_repeated else None,
        )
        return start, saver

    def _is_of_earlier_attempt(self, metadata: Any) -> bool:
        """Returns whether a run that begins again passes over a checkpoint.

        With durability exit, a run's checkpoints are stored when it ends, but those of a subgraph with its own
        checkpointer when the subgraph ends. When the run begins again, so does the subgraph.
        """
        is_of_run = bool(metadata.get("run_id") == self._request["runId"])
        return is_of_run and metadata.get("run_attempt") != self._request["attempt"]

    async def _stream(self, graph: Graph, given: Any, config: RunnableConfig, context: Any) -> None:
        request = self._request
        options: dict[str, Any] = {"context": context}
        if self._checkpoints is not None:
            options["durability"] = request["durability"]
        for key, name in (("interruptBefore", "interrupt_before"), ("interruptAfter", "interrupt_after")):
            if request.get(key) is not None:
                options[name] = request[key]
        if self._control is not None:
            options["control"] = self._control
        config = {**config, "configurable": {**config["configurable"], STREAM_KEY: self._emissions.stream}}
        execution = Execution(graph, given, config, options)
        modes, has_namespaces = self._renderer.graph_modes, request["streamSubgraphs"]
        if self._protocol is not None:
            chunks = stream_protocol(execution, self._protocol, is_draining=lambda: self._is_draining)
        elif "events" in self._modes:
            render = self._renderer.render_streamed_event
            chunks = stream_events(execution, modes, has_namespaces=has_namespaces, render=render)
        else:
            chunks = stream_modes(execution, modes, has_namespaces=has_namespaces)
        async with aclosing(chunks) as closing:
            async for namespace, mode, payload in closing:
                await self._take(namespace, mode, payload)

    async def _take(self, namespace: Sequence[str], mode: str, payload: Any) -> None:
        self._emissions.take(namespace, mode)
        checkpoints = self._checkpoints
        is_checkpoint = mode == "checkpoints" and checkpoints is not None
        if is_checkpoint and self._request["durability"] != "exit":
            self._buffer.await_put(payload["config"]["configurable"]["checkpoint_id"])
        self._renderer.render(namespace, mode, payload)
        if is_checkpoint and not namespace:
            self._end_step(payload)
            if checkpoints is not None:
                await checkpoints.keep_pace()

    def _end_step(self, checkpoint: Any) -> None:
        """Makes a drain visible to the graph from the end of its first step on."""
        metadata = checkpoint["metadata"]
        # That of a checkpoint which was read has the run that made it.
        if metadata.get("source") == "loop" and metadata.get("run_id", self.run_id) == self.run_id:
            self._has_ended_a_step = True
        if self._is_draining and self._has_ended_a_step and self._control is not None:
            self._control.request_drain()

    async def _done(self, graph: Graph, config: RunnableConfig) -> Settlement:
        renderer = self._renderer
        values = renderer.root_values
        if not renderer.next_nodes and not renderer.root_interrupts:
            if not renderer.has_root_values:
                values = (await self._newest_state(graph, config)).values if self._checkpoints is not None else {}
            return Settlement("done", values, next_nodes=[])
        if renderer.root_interrupts:
            values = {
                **(values if isinstance(values, dict) else {}),
                INTERRUPT: [streamed_interrupt(one) for one in renderer.root_interrupts],
            }
        if self._checkpoints is None:
            return Settlement("done", values, next_nodes=[])
        state = await self._newest_state(graph, config)
        return Settlement("done", values, list(state.next), interrupts_by_task(state.tasks))

    async def _newest_state(self, graph: Graph, config: RunnableConfig) -> Any:
        return await graph.aget_state(newest_state_config(config))

    async def _settlement_of(self, task: asyncio.Task[Settlement]) -> Settlement:
        if not task.cancelled():
            error = task.exception()
            if error is None:
                return task.result()
        else:
            error = asyncio.CancelledError()
        await self._wait_for_graph(error)
        if self._failure is not None:
            return await self._failed(self._failure)
        if isinstance(error, GraphDrained):
            return Settlement("drained")
        if self._abort_reason is not None:
            return Settlement("aborted", **self._reached(), interrupts=await self._open_questions())
        if self._is_draining and isinstance(error, asyncio.CancelledError):
            return Settlement("drained")
        return await self._failed(error)

    async def _failed(self, error: BaseException) -> Settlement:
        if not isinstance(error, BackendError):
            self._parts.on_thrown(error)
        interrupts = await self._open_questions()
        return Settlement("failed", **self._reached(), interrupts=interrupts, error=error_body(error))

    def _reached(self) -> dict[str, Any]:
        """Returns the values that the graph has come to, if there are any."""
        return {"values": self._renderer.root_values} if self._renderer.has_root_values else {}

    async def _wait_for_graph(self, error: BaseException) -> None:
        """Waits for what a cancelled graph still stores: LangGraph names that task in the error."""
        left = [arg for arg in error.args if isinstance(arg, asyncio.Task)]
        if left:
            await asyncio.wait(left)
        if self._checkpoints is not None:
            await self._checkpoints.wait_for_writes()

    async def _open_questions(self) -> dict[str, list[Any]] | None:
        """Returns what the newest checkpoint asks: a node that ran beside the one that failed may have asked.

        What fails here is the storage, and says nothing about the run.
        """
        if self._executed is None or self._checkpoints is None or not self._checkpoints.may_ask:
            return None
        try:
            return interrupts_by_task((await self._newest_state(*self._executed)).tasks)
        except Exception:
            return None

    def _open_checkpoints(self) -> RemoteCheckpoints:
        request = self._request
        is_sync = request["durability"] == "sync"
        # What a subgraph emits is counted when it arrives here. One event more makes the loss of it noticed.
        ahead_of_subgraphs = 1 if request["streamSubgraphs"] and not _STEP_MODES.isdisjoint(self._modes) else 0

        def position(namespace: str) -> int:
            events = self._buffer.emitted + self._emissions.waiting + (ahead_of_subgraphs if namespace else 0)
            return int(request["attempt"]) * _EVENTS_MAX + events

        return RemoteCheckpoints(
            self._parts.connection,
            self._use,
            new_thread_id=request["threadId"] if request.get("isThreadNew") else None,
            on_put_failed=None if is_sync else self.fail,
            before_put=self._usage.report,
            stream_position=position,
            on_stored=self._buffer.know_put,
        )


def _factory_config(config: RunnableConfig) -> dict[str, Any]:
    return {**config, "configurable": {**config["configurable"], "__is_for_execution__": True}}
