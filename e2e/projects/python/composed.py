"""Graphs in graphs, and jumps between nodes."""

import operator
from typing import Annotated

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send
from typing_extensions import TypedDict


class Log(TypedDict, total=False):
    log: Annotated[list, operator.add]


def note(text: str):
    return lambda state: {"log": [text]}


inner = StateGraph(Log).add_node("leaf", note("leaf")).add_edge(START, "leaf").compile()
middle = (
    StateGraph(Log)
    .add_node("before", note("before"))
    .add_node("inner", inner)
    .add_edge(START, "before")
    .add_edge("before", "inner")
    .compile()
)
nested = (
    StateGraph(Log)
    .add_node("first", note("first"))
    .add_node("middle", middle)
    .add_edge(START, "first")
    .add_edge("first", "middle")
    .compile()
)


class Items(TypedDict, total=False):
    items: list
    log: Annotated[list, operator.add]


fans_out = (
    StateGraph(Items)
    .add_node("work", lambda state: {"log": [state["item"] * 2]})
    .add_node("gather", note("gathered"))
    .add_conditional_edges(START, lambda state: [Send("work", {"item": item}) for item in state["items"]], ["work"])
    .add_edge("work", "gather")
    .compile()
)


def leave(state: Log) -> Command:
    return Command(graph=Command.PARENT, goto="last", update={"log": ["left"]})


leaver = StateGraph(Log).add_node("leave", leave).add_edge(START, "leave").compile()


def choose(state: Log) -> Command:
    return Command(goto="leaver", update={"log": ["chosen"]})


jumps = (
    StateGraph(Log)
    .add_node("choose", choose, destinations=("leaver",))
    .add_node("leaver", leaver, destinations=("last",))
    .add_node("last", note("last"))
    .add_edge(START, "choose")
    .add_edge("last", END)
    .compile()
)
