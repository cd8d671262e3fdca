"""Handles each message of the parent."""

import asyncio
import contextvars
import os
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from .answers import AnswerWithBytes
from .clients.loopback import LoopbackTransport, connect_clients
from .describe.describe_graph import GraphDescriber
from .loading.load_failure import describe_run_failure
from .loading.load_graphs import load_graphs
from .loading.loaded_graph import LoadedGraph
from .process.current_run import RunIds, RunningCode, running_code
from .process.output import Output, capture_output
from .process.run_threads import RunThreads
from .process.watchdog import Watchdog
from .project_objects import ProjectObjects, Work
from .protocol.connection import HostConnection
from .protocol.errors import GraphRequestError, Header, describe_error, error_body
from .running.run import GraphRun, RunParts
from .running.settlement import Settlement, send_settlement
from .serialization.serializer import PlainSerializer, StateSerializer
from .state.state_requests import StateRequests
from .state.thread_state import StateText
from .storage.portal import Portal
from .streaming.event_buffer import Limits


class Host:
    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._threads = RunThreads()
        self._loop.set_default_executor(self._threads)
        self._portal = Portal(self._loop)
        self._states: StateRequests | None = None
        self._graphs: dict[str, LoadedGraph] = {}
        self._runs: dict[int, GraphRun] = {}
        self._parts: RunParts | None = None
        self._output: Output | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._watchdog = Watchdog(self._loop, self.warn)
        self._objects = ProjectObjects(self.warn)
        describer = GraphDescriber(connection, self._portal)
        self._notices: dict[str, Callable[[Header], None]] = {
            "run.start": self._start_run,
            "run.credit": lambda header: self._with_run(header, lambda run: run.grant(header["bytes"])),
            "run.abort": lambda header: self._with_run(header, lambda run: run.abort(header["reason"])),
            "run.drain": lambda header: self._with_run(header, lambda run: run.drain()),
        }
        self._requests: dict[str, Work] = {
            "init": lambda header, _: self._init(header),
            "ping": lambda *_: _nothing(),
            "state.get": self._get_state,
            "state.history": self._get_history,
            "state.update": self._update_state,
            "graph.draw": self._describing(describer.draw),
            "graph.input_keys": self._describing(describer.input_keys),
            "graph.tools": self._describing(describer.tools),
            "graph.schemas": self._describing(describer.schemas),
            "graph.subgraphs": self._describing(describer.subgraphs),
            # Graphs in Python carry their schemas.
            "graph.store_schemas": lambda *_: _nothing(0),
            **self._objects.requests,
        }

    def log(self, line: dict[str, Any]) -> None:
        self._connection.from_thread(lambda: self._connection.send(0, {"t": "log", **line}))

    def warn(self, message: str) -> None:
        self.log({"level": "warn", "message": message})

    def receive(self, header: Header, raw: memoryview) -> None:
        kind = header["t"]
        if (notice := self._notices.get(kind)) is not None:
            notice(header)
        elif (request := self._requests.get(kind)) is not None:
            self._spawn(self._answer(header, raw, request))
        elif kind == "shutdown":
            self._spawn(self._shut_down(header["id"]))
        else:
            self._connection.refuse_unknown(header)

    async def _init(self, header: Header) -> list[dict[str, Any]]:
        project, limits = header["project"], header["limits"]
        self._output = Output(self.log, limits["logBytesPerSecond"], self._connection.call_later)
        capture_output(self._output)
        # Variables of the deployment win over those of the project.
        for name, value in project["env"].items():
            os.environ.setdefault(name, value)
        self._objects.directory = project["directory"]
        if (loopback := header["loopback"]) is not None:
            self.connect(LoopbackTransport(loopback["socketPath"], loopback["token"]))
        serializer = StateSerializer.of_project(project, self.warn)
        self.take_graphs(await load_graphs(project, self.warn), limits, header["publicUrl"], serializer)
        return [_description_of(graph) for graph in self._graphs.values()]

    def connect(self, loopback: LoopbackTransport) -> None:
        """Has code of the project reach the deployment's own server."""
        self._objects.loopback = loopback
        connect_clients(loopback)

    def take_graphs(
        self, graphs: dict[str, LoadedGraph], limits: Limits, public_url: str | None, serializer: StateSerializer
    ) -> None:
        """Makes loaded graphs those that runs and requests name."""
        self._graphs = graphs
        plain = PlainSerializer(pickles=serializer.pickle_fallback)
        self._states = StateRequests(self._connection, self._portal, serializer, plain)
        self._parts = RunParts(self._connection, self._portal, serializer, limits, public_url, self._log_thrown)

    def _log_thrown(self, error: BaseException) -> None:
        if self._output is not None:
            self._output.print("error", describe_run_failure(error, Path(self._objects.directory)))

    async def _shut_down(self, number: int) -> None:
        self._connection.answer(0, number, None)
        await self._objects.close()
        self._connection.finish()

    async def _get_state(self, header: Header, _: memoryview) -> AnswerWithBytes:
        request = header["request"]
        return _with_texts(await self._open_states().get(self._graph(request), header["use"], request))

    async def _get_history(self, header: Header, _: memoryview) -> AnswerWithBytes:
        request = header["request"]
        return _with_texts(await self._open_states().history(self._graph(request), header["use"], request))

    async def _update_state(self, header: Header, _: memoryview) -> dict[str, Any]:
        request = header["request"]
        # Who asked reads the state that it has become.
        return {"written": await self._open_states().update(self._graph(request), header["use"], request), "states": []}

    def _open_states(self) -> StateRequests:
        if self._states is None:
            raise GraphRequestError("not_found", "The project is not loaded")
        return self._states

    def _describing(self, describe: Callable[[LoadedGraph, Any], Awaitable[Any]]) -> Work:
        async def work(header: Header, _: memoryview) -> Any:
            return await describe(self._graph(header["request"]), header["request"])

        return work

    def _graph(self, request: Any) -> LoadedGraph:
        graph = self._graphs.get(request["graphId"])
        if graph is None:
            raise _no_such_graph(request["graphId"])
        return graph

    def _start_run(self, header: Header) -> None:
        use, request = header["use"], header["request"]
        graph = self._graphs.get(request["graphId"])
        if graph is None or self._parts is None:
            error = error_body(_no_such_graph(request["graphId"]), "not_found")
            send_settlement(self._connection, use, Settlement("failed", error=error))
            return
        code = RunningCode(
            RunIds(request["runId"], request["threadId"], request["graphId"]),
            request.get("traceparent"),
            request["config"]["configurable"].get("langgraph_auth_user"),
        )
        context = contextvars.copy_context()
        context.run(running_code.set, code)
        run = GraphRun(self._parts, use, request, graph, has_checkpoints=header["hasCheckpoints"])
        self._runs[use] = run
        self._connection.send(use, {"t": "run.begun", "use": use})
        self._spawn(self._execute(use, run, code), context)

    async def _execute(self, use: int, run: GraphRun, code: RunningCode) -> None:
        # The messages of this turn are sent first: code that never returns to the event loop would keep them here.
        await asyncio.sleep(0)
        self._connection.flush()
        self._watchdog.watch(is_working=True)
        try:
            settlement = await run.execute()
        finally:
            del self._runs[use]
            if not self._runs:
                self._watchdog.watch(is_working=False)
        left = self._threads.take_left(code)
        run.send(settlement, is_still_working=bool(left))
        if left:
            await asyncio.wait(left)
            self._connection.send(use, {"t": "run.stopped", "use": use})

    def _with_run(self, header: Header, work: Callable[[GraphRun], None]) -> None:
        run = self._runs.get(header["use"])
        if run is not None:
            work(run)

    async def _answer(self, header: Header, raw: memoryview, work: Work) -> None:
        lane, number = header.get("use", 0), header["id"]
        try:
            result = await work(header, raw)
            if isinstance(result, AnswerWithBytes):
                self._connection.answer(lane, number, result.ok, result.raw)
            else:
                self._connection.answer(lane, number, result)
        except BaseException as error:
            # The parent waits for an answer also where code of the project calls `sys.exit`, or gives itself up.
            self._connection.answer_error(lane, number, describe_error(error))

    def _spawn(self, work: Coroutine[Any, Any, None], context: contextvars.Context | None = None) -> None:
        task = self._loop.create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _nothing(answer: Any = None) -> Any:
    return answer


def _with_texts(states: list[StateText]) -> AnswerWithBytes:
    return AnswerWithBytes([state.document for state in states], [part for state in states for part in state.parts])


def _description_of(graph: LoadedGraph) -> dict[str, Any]:
    described: dict[str, Any] = {"graphId": graph.graph_id, "isFactory": graph.is_factory}
    if graph.description is not None:
        described["description"] = graph.description
    return described


def _no_such_graph(graph_id: str) -> GraphRequestError:
    return GraphRequestError("not_found", f'The project has no graph "{graph_id}"')
