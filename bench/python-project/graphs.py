"""The smallest graphs there are, so that a measurement shows the platform and not the graph."""

import time
from typing import TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph


class Question(TypedDict, total=False):
    question: str
    answer: str


class Block(TypedDict, total=False):
    # Milliseconds.
    blockMs: int


class Emit(TypedDict, total=False):
    # Events, each of so many bytes.
    events: int
    bytes: int


def answer(state: Question) -> Question:
    return {"answer": f"echo: {state['question']}"}


def block_thread(state: Block) -> Block:
    time.sleep(state["blockMs"] / 1000)
    return {}


async def emit_events(state: Emit) -> Emit:
    write = get_stream_writer()
    padding = "x" * state["bytes"]
    for number in range(state["events"]):
        write({"number": number, "padding": padding})
    return {}


echo = StateGraph(Question).add_node("echo", answer).add_edge(START, "echo").add_edge("echo", END).compile()
block = StateGraph(Block).add_node("block", block_thread).add_edge(START, "block").add_edge("block", END).compile()
emit = StateGraph(Emit).add_node("emit", emit_events).add_edge(START, "emit").add_edge("emit", END).compile()
