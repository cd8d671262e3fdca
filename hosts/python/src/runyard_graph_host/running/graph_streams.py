"""The ways to stream a graph. Each yields what it streams, with the namespace of the graph that it is from."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from ..langgraph.message_blocks import STREAMS_BLOCKS_KEY, EventProtocolError
from ..langgraph.names import HIDDEN_TAG, INTERRUPT
from ..streaming.protocol_events import PROTOCOL_MODES, ProtocolEvents

Chunk = tuple[Sequence[str], str, Any]
Chunks = AsyncGenerator[Chunk, None]


@dataclass(frozen=True, slots=True)
class Execution:
    """A graph with all that it is given. Its modes are any text: those that it does not know are dropped."""

    graph: Any
    input: Any
    config: Any
    options: Mapping[str, Any]


async def stream_modes(execution: Execution, modes: list[str], *, has_namespaces: bool) -> Chunks:
    graph, config = execution.graph, execution.config
    stream = graph.astream(execution.input, config, stream_mode=modes, subgraphs=has_namespaces, **execution.options)
    async with aclosing(stream) as closing:
        async for chunk in closing:
            yield chunk if has_namespaces else ((), *chunk)


async def stream_events(
    execution: Execution,
    modes: list[str],
    *,
    has_namespaces: bool,
    render: Callable[[Mapping[str, Any]], None],
) -> Chunks:
    """Passes what runnables inside the graph report to `render`."""
    root_id: str | None = None
    events = execution.graph.astream_events(
        execution.input,
        execution.config,
        version="v2",
        stream_mode=modes,
        subgraphs=has_namespaces,
        **execution.options,
    )
    async with aclosing(events) as closing:
        async for event in closing:
            if root_id is None and event["event"] == "on_chain_start" and not event.get("parent_ids"):
                root_id = event["run_id"]
            if HIDDEN_TAG in (event.get("tags") or ()):
                continue
            if event["event"] == "on_chain_stream" and event["run_id"] == root_id:
                chunk = event["data"]["chunk"]
                yield chunk if has_namespaces else ((), *chunk)
            else:
                render(event)


async def stream_protocol(execution: Execution, protocol: ProtocolEvents, *, is_draining: Callable[[], bool]) -> Chunks:
    """Passes all to `protocol`, and yields what the result of the run comes from."""
    if STREAMS_BLOCKS_KEY is None:
        raise EventProtocolError
    config = execution.config
    config = {**config, "configurable": {**config["configurable"], STREAMS_BLOCKS_KEY: True}}
    stream = execution.graph.astream(
        execution.input, config, stream_mode=PROTOCOL_MODES, subgraphs=True, version="v2", **execution.options
    )
    try:
        async with aclosing(stream) as closing:
            async for part in closing:
                namespace, mode, payload = part["ns"], part["type"], part["data"]
                interrupts = part.get("interrupts", ())
                if mode == "checkpoints":
                    yield namespace, mode, payload
                elif mode == "values":
                    yield namespace, mode, {**payload, INTERRUPT: interrupts} if interrupts else payload
                protocol.add(namespace, mode, payload, interrupts)
    except BaseException:
        # Another worker goes on with what stops here.
        if not is_draining():
            protocol.end("failed")
        raise
    protocol.end("completed")
