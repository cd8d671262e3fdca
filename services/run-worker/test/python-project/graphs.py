"""Graphs that harm their process, and one that runs beside them. Each writes a line to its ledger when it begins."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph


class State(TypedDict, total=False):
    ledger: str
    # The file for which `waits` waits.
    gate: str


def compiled(node: Callable[[State], Any]) -> Any:
    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile()


def note(path: str) -> None:
    with Path(path).open("a") as ledger:
        ledger.write("begun\n")


async def wait(state: State) -> State:
    note(state["ledger"])
    while not Path(state["gate"]).exists():
        await asyncio.sleep(0.01)
    return {}


async def block_loop(state: State) -> State:
    note(state["ledger"])
    while True:
        time.sleep(0.01)


def block_thread(state: State) -> State:
    note(state["ledger"])
    while True:
        time.sleep(0.01)


def exits_in_factory(config: RunnableConfig) -> Any:
    note(config["configurable"]["ledger"])
    os._exit(3)


def blocks_factory(config: RunnableConfig) -> Any:
    note(config["configurable"]["ledger"])
    while True:
        time.sleep(0.01)


waits = compiled(wait)
blocks_loop, blocks_thread = compiled(block_loop), compiled(block_thread)
