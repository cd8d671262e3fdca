"""A graph that fails as it is told."""

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class Custom(Exception):
    pass


ERRORS = {
    "value": ValueError("not that value"),
    "key": KeyError("absent"),
    "runtime": RuntimeError("not now"),
    "custom": Custom("inner details"),
    "timeout": TimeoutError("too late"),
}


class Choice(TypedDict, total=False):
    kind: str
    before: str


def fail(state: Choice):
    if state["kind"] == "update":
        return {"unknown": 1}
    raise ERRORS[state["kind"]]


fails = (
    StateGraph(Choice)
    .add_node("prepare", lambda state: {"before": "prepared"})
    .add_node("fail", fail)
    .add_edge(START, "prepare")
    .add_edge("prepare", "fail")
    .compile()
)
