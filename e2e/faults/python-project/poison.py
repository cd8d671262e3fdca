"""Harms its process as code in production does one day."""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    how: Literal["exit", "crash", "oom", "loop", "block", "huge", "flood", "throw"]
    # Bytes of the state that `huge` makes.
    bytes: int
    # Milliseconds for which `block` does not return to the event loop.
    blockMs: int
    text: str


async def exit_process(_state: State) -> State:
    sys.exit(7)


async def crash(_state: State) -> State:
    os.abort()


async def run_out_of_memory(_state: State) -> State:
    held: list[bytes] = []
    while True:
        held.append(b"x" * 8_000_000)
        # The memory of a process is measured from time to time: code that takes all within a moment meets the system.
        await asyncio.sleep(0.01)


async def loop_for_ever(_state: State) -> State:
    while True:
        pass


async def block(state: State) -> State:
    until = time.monotonic() + state["blockMs"] / 1000
    while time.monotonic() < until:
        pass
    return {}


async def flood(_state: State) -> State:
    for line in range(200_000):
        print(f"line {line} {'x' * 200}")
    return {}


async def throw(_state: State) -> State:
    def fail() -> None:
        raise TypeError("where nobody can catch it")

    asyncio.get_running_loop().call_later(0.01, fail)
    await asyncio.sleep(0.1)
    return {}


async def grow(state: State) -> State:
    return {"text": "x" * state["bytes"]}


HARMS: dict[str, Callable[[State], Awaitable[State]]] = {
    "exit": exit_process,
    "crash": crash,
    "oom": run_out_of_memory,
    "loop": loop_for_ever,
    "block": block,
    "flood": flood,
    "throw": throw,
    "huge": grow,
}


async def harm(state: State) -> State:
    return await HARMS[state["how"]](state)


graph = StateGraph(State).add_node("harm", harm).add_edge(START, "harm").add_edge("harm", END).compile()
