"""A parent in the test's own process: it speaks with a host over a pair of sockets, and keeps checkpoints in memory."""

import asyncio
import json
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runyard_graph_host.clients.loopback import LoopbackTransport
from runyard_graph_host.host import Host
from runyard_graph_host.langgraph.message_blocks import STREAMS_BLOCKS_KEY
from runyard_graph_host.loading.load_graphs import load_graphs
from runyard_graph_host.protocol.connection import Answer, HostConnection
from runyard_graph_host.serialization.serializer import StateSerializer
from runyard_graph_host.storage.values import ValueReader

needs_event_protocol = pytest.mark.skipif(STREAMS_BLOCKS_KEY is None, reason="LangGraph has it from 1.2 on")
LIMITS = {"creditBytes": 2**20, "bufferBytes": 2**26, "eventBytes": 2**27, "logBytesPerSecond": 2**20}


class Settled:
    """How a run ended, and what it has streamed."""

    def __init__(self, header: dict[str, Any], raw: bytes, events: list[tuple[str, str, Any]]) -> None:
        self.kind: str = header["kind"]
        self.header = header
        self.events = events
        values, interrupts = header["valuesBytes"], header["interruptsBytes"]
        self.values = None if values is None else json.loads(raw[:values])
        self.interrupts = None if interrupts is None else json.loads(raw[len(raw) - interrupts :])

    def of_mode(self, mode: str) -> list[Any]:
        return [data for its_mode, _, data in self.events if its_mode == mode]


class FakeParent:
    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self.connection = HostConnection(self._receive, lambda _reason: None)
        self.received: list[tuple[dict[str, Any], bytes]] = []
        self.logs: list[dict[str, Any]] = []
        self.items: dict[tuple[tuple[str, ...], str], Any] = {}
        # Checkpoint puts in their order, and what is kept of each.
        self.puts: list[dict[str, Any]] = []
        self.answers_puts = asyncio.Event()
        self.answers_puts.set()
        self._kept: list[tuple[dict[str, Any], dict[str, tuple[str, bytes]], bytes, bytes]] = []
        self._writes: dict[str, dict[tuple[str, int], tuple[dict[str, Any], bytes]]] = {}
        self._changed = asyncio.Event()
        self._uses = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        await asyncio.get_running_loop().create_connection(lambda: self.connection, sock=self._end)

    async def request(self, kind: str, use: int = 0, raw: bytes = b"", **fields: Any) -> Answer:
        header = {"t": kind, **({"use": use} if use else {}), **fields}
        return await self.connection.request(use, header, [raw])

    def start(self, graph_id: str, *, has_checkpoints: bool = True, **request: Any) -> int:
        self._uses += 1
        thread_id = request.setdefault("threadId", str(uuid.uuid4()))
        run_id = request.setdefault("runId", str(uuid.uuid4()))
        whole = {
            "assistantId": str(uuid.uuid4()),
            "graphId": graph_id,
            "attempt": 1,
            "streamModes": ["values"],
            "streamSubgraphs": False,
            "durability": "async",
            "config": {"configurable": {"thread_id": thread_id, "run_id": run_id, "graph_id": graph_id}},
            **request,
        }
        header = {"t": "run.start", "use": self._uses, "hasCheckpoints": has_checkpoints, "request": whole}
        self.connection.send(self._uses, header)
        return self._uses

    async def finish(self, use: int) -> Settled:
        while True:
            for header, raw in self.received:
                if header["t"] == "run.settled" and header["use"] == use:
                    return Settled(header, raw, self.events_of(use))
            self._changed.clear()
            await self._changed.wait()

    async def run(self, graph_id: str, *, has_checkpoints: bool = True, **request: Any) -> Settled:
        return await self.finish(self.start(graph_id, has_checkpoints=has_checkpoints, **request))

    async def until(self, found: Any) -> Any:
        while not (value := found()):
            self._changed.clear()
            await self._changed.wait()
        return value

    def events_of(self, use: int) -> list[tuple[str, str, Any]]:
        events: list[tuple[str, str, Any]] = []
        for header, raw in self.received:
            if header["t"] == "run.events" and header["use"] == use:
                position = 0
                for mode, event, length in header["events"]:
                    events.append((mode, event, json.loads(raw[position : position + length])))
                    position += length
        return events

    def _receive(self, header: dict[str, Any], raw: memoryview) -> None:
        kind = header["t"]
        self.received.append((header, bytes(raw)))
        self._changed.set()
        if kind == "log":
            self.logs.append(header)
        elif kind == "run.events":
            use = header["use"]
            self.connection.send(use, {"t": "run.credit", "use": use, "bytes": len(raw)})
        elif "id" in header:
            task = asyncio.get_running_loop().create_task(self._answer(header, raw))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, header: dict[str, Any], raw: memoryview) -> None:
        kind, use = header["t"], header["use"]
        if kind == "checkpoint.put":
            self._put(header["put"], raw)
            await self.answers_puts.wait()
            self.connection.answer(use, header["id"], None)
        elif kind == "checkpoint.putWrites":
            put, reader = header["put"], ValueReader(raw)
            kept = self._writes.setdefault(put["key"]["checkpointId"], {})
            for write in put["writes"]:
                document = {"taskId": put["taskId"], "channel": write["channel"], "value": write["value"]}
                kept[put["taskId"], write["index"]] = (document, reader.take(write["value"])[1])
            self.connection.answer(use, header["id"], None)
        elif kind in ("checkpoint.get", "checkpoint.list"):
            query = header["query"] if kind == "checkpoint.list" else header
            documents, parts = self._find(query, 1 if kind == "checkpoint.get" else query.get("limit"))
            self.connection.answer(use, header["id"], documents, parts)
        elif kind == "store.batch":
            self.connection.answer(use, header["id"], [self._store(operation) for operation in header["operations"]])
        else:
            self.connection.refuse_unknown(header)

    def _put(self, put: dict[str, Any], raw: memoryview) -> None:
        reader = ValueReader(raw)
        checkpoint, metadata = reader.take(put["checkpoint"]), reader.take(put["metadata"])
        parent_id = put.get("parentCheckpointId")
        inherited = next((values for kept, values, *_ in self._kept if kept["key"]["checkpointId"] == parent_id), {})
        values = {channel: value for channel, value in inherited.items() if channel in put["channelVersions"]}
        for blob in put["blobs"]:
            values.pop(blob["channel"], None)
            if "value" in blob:
                values[blob["channel"]] = reader.take(blob["value"])
        self.puts.append(put)
        self._changed.set()
        self._kept.append((put, values, checkpoint[1], metadata[1]))

    def _find(self, query: dict[str, Any], limit: int | None) -> tuple[list[Any], list[bytes]]:
        documents, parts = [], []
        for put, values, checkpoint, metadata in reversed(self._kept):
            key = put["key"]
            wanted = {"threadId": query.get("threadId"), "checkpointId": query.get("checkpointId")}
            if any(value is not None and key[name] != value for name, value in wanted.items()):
                continue
            if query.get("namespace") is not None and key["namespace"] != query["namespace"]:
                continue
            if "beforeCheckpointId" in query and key["checkpointId"] >= query["beforeCheckpointId"]:
                continue
            if "after" in query and key["checkpointId"] >= query["after"]["checkpointId"]:
                continue
            writes = list(self._writes.get(key["checkpointId"], {}).values())
            document = {
                "key": key,
                "checkpoint": put["checkpoint"],
                "metadata": put["metadata"],
                "channelValues": [
                    {"channel": name, "value": [kind, len(data)]} for name, (kind, data) in values.items()
                ],
                "pendingWrites": [write for write, _ in writes],
            }
            if "parentCheckpointId" in put:
                document["parentCheckpointId"] = put["parentCheckpointId"]
            documents.append(document)
            parts += [checkpoint, metadata, *(data for _, data in values.values()), *(data for _, data in writes)]
            if len(documents) == limit:
                break
        return documents, parts

    def _store(self, operation: dict[str, Any]) -> Any:
        if operation["kind"] == "put":
            self.items[tuple(operation["namespace"]), operation["key"]] = operation["value"]
            return None
        if operation["kind"] == "listNamespaces":
            return sorted({namespace for namespace, _ in self.items})
        times = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z"}
        found = [
            {"namespace": namespace, "key": key, "value": value, **times}
            for (namespace, key), value in self.items.items()
            if operation["kind"] == "search" or (list(namespace), key) == (operation["namespace"], operation["key"])
        ]
        return found if operation["kind"] == "search" else (found[0] if found else None)


@asynccontextmanager
async def started_host(
    directory: Path, loopback: dict[str, str] | None = None, /, **graphs: str
) -> AsyncIterator[FakeParent]:
    """Opens a host with graphs of files in a folder, `graph_id="file.py:name"`, without capturing the test's output."""
    ours, theirs = socket.socketpair()
    parent = FakeParent(ours)
    await parent.open()
    host: Host
    connection = HostConnection(lambda header, raw: host.receive(header, raw), lambda _reason: None)
    await asyncio.get_running_loop().create_connection(lambda: connection, sock=theirs)
    host = Host(connection)
    if loopback is not None:
        host.connect(LoopbackTransport(loopback["socketPath"], loopback["token"]))
    documents = [
        {"graphId": graph_id, "file": str(directory / source.split(":")[0]), "symbol": source.split(":")[1]}
        for graph_id, source in graphs.items()
    ]
    project = {"directory": str(directory), "graphs": documents}
    serializer = StateSerializer.of_project(project, host.warn)
    host.take_graphs(await load_graphs(project, host.warn), LIMITS, None, serializer)
    try:
        yield parent
    finally:
        parent.connection.close("the test is over")
        connection.close("the test is over")
