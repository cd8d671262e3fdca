"""Asks in a node, in two parallel nodes, or in a subgraph with a checkpointer of its own or without, and at the end."""

import asyncio
from collections.abc import Awaitable, Callable
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    # The place of the first questions.
    where: Literal["node", "beside", "inside", "memory"]
    # Milliseconds that a node takes before it asks, and again when it has its answer.
    sleepMs: int
    # Question and answer, as often as the graph applied it.
    answers: Annotated[list[tuple[str, Any]], add]


def ask(question: str) -> Callable[[State], Awaitable[State]]:
    async def node(state: State) -> State:
        await asyncio.sleep(state["sleepMs"] / 1000)
        answer = interrupt(question)
        await asyncio.sleep(state["sleepMs"] / 1000)
        return {"answers": [(question, answer)]}

    return node


def places(state: State) -> list[str]:
    return ["left", "right"] if state["where"] == "beside" else [state["where"]]


# Asks twice, in a step each.
inner = (
    StateGraph(State)
    .add_node("first", ask("first"))
    .add_node("second", ask("second"))
    .add_edge(START, "first")
    .add_edge("first", "second")
)

graph = (
    StateGraph(State)
    .add_node("node", ask("first"))
    .add_node("left", ask("left"))
    .add_node("right", ask("right"))
    .add_node("inside", inner.compile())
    .add_node("memory", inner.compile(checkpointer=True))
    .add_node("last", ask("last"))
    .add_conditional_edges(START, places, ["node", "left", "right", "inside", "memory"])
    .add_edge(["left", "right"], "last")
    .add_edge("node", "last")
    .add_edge("inside", "last")
    .add_edge("memory", "last")
    .compile()
)
