"""Graphs that ask before they go on."""

import operator
from typing import Annotated

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class Answers(TypedDict, total=False):
    answers: Annotated[list, operator.add]


def ask(question: str):
    return lambda state: {"answers": [interrupt({"question": question})]}


asks = (
    StateGraph(Answers)
    .add_node("prepare", lambda state: {"answers": ["prepared"]})
    .add_node("ask", ask("Go on?"))
    .add_edge(START, "prepare")
    .add_edge("prepare", "ask")
    .compile()
)
asks_twice = (
    StateGraph(Answers)
    .add_node("left", ask("Left?"))
    .add_node("right", ask("Right?"))
    .add_edge(START, "left")
    .add_edge(START, "right")
    .compile()
)
asks_inside = (
    StateGraph(Answers)
    .add_node("child", StateGraph(Answers).add_node("ask", ask("Inside?")).add_edge(START, "ask").compile())
    .add_edge(START, "child")
    .compile()
)
stops = (
    StateGraph(Answers)
    .add_node("one", lambda state: {"answers": ["one"]})
    .add_node("two", lambda state: {"answers": ["two"]})
    .add_edge(START, "one")
    .add_edge("one", "two")
    .compile(interrupt_before=["two"])
)
