"""Code that harms its process."""

import asyncio
import logging
import signal
import sys
import time
import warnings
from pathlib import Path

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    text: str


def compiled(node):
    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile()


def exits(state):
    sys.exit(3)


def stays(state):
    print("working")
    while not Path(state["text"]).exists():
        time.sleep(0.01)


async def exits_in_a_task(state):
    async def leave():
        sys.exit(4)

    return await asyncio.create_task(leave())


async def forgets_a_task(state):
    async def fail():
        raise ValueError("nobody waits for this")

    asyncio.create_task(fail())  # noqa: RUF006 - that is the point
    await asyncio.sleep(0)
    return state


async def prints(state):
    print("printed", file=sys.stdout)
    print("to stderr", file=sys.stderr)
    logging.getLogger("project").warning("logged %s", "here", extra={"amount": 3})
    warnings.warn("warned", stacklevel=1)
    sys.stdout.buffer.write(b"as bytes\n")
    print("x" * 20_000)
    print("a \ud800 surrogate")
    return state


def prints_in_a_thread(state):
    print("in a thread")
    return state


def takes_a_signal(state):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return state


exiting, exiting_in_a_task, forgetting = compiled(exits), compiled(exits_in_a_task), compiled(forgets_a_task)
printing, printing_in_a_thread, signalling = compiled(prints), compiled(prints_in_a_thread), compiled(takes_a_signal)


async def blocks(state):
    time.sleep(2.2)  # noqa: ASYNC251 - that is the point
    return state


def hoards(state):
    hoard = []
    while True:
        hoard.append(b"x" * 10_000_000)
        time.sleep(0.01)


blocking = compiled(blocks)
hoarding = compiled(hoards)
reading_options = compiled(lambda state: {"text": str(len(sys.argv))})
staying = compiled(stays)
fine = compiled(lambda state: {"text": "fine"})
