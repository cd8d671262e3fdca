"""Graphs that use what a server gives them: context, a store, a stream."""

import operator
from dataclasses import dataclass
from typing import Annotated

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict


class Text(TypedDict, total=False):
    text: str


@dataclass
class Context:
    mood: str = "calm"
    level: int = 1


def tell(state: Text, runtime: Runtime[Context], config: RunnableConfig):
    configured = config["configurable"].get("mood")
    return {"text": f"{runtime.context.mood} {runtime.context.level} {configured}"}


with_context = StateGraph(Text, context_schema=Context).add_node("tell", tell).add_edge(START, "tell").compile()


async def remember(state: Text, *, store: BaseStore):
    await store.aput(("notes", "ada"), "last", {"text": state["text"]})
    found = await store.asearch(("notes",))
    return {"text": ", ".join(item.value["text"] for item in found)}


remembers = StateGraph(Text).add_node("remember", remember).add_edge(START, "remember").compile()


def speak(state: Text):
    writer = get_stream_writer()
    writer("one")
    writer({"two": 2})
    return {"text": "spoken"}


speaks = StateGraph(Text).add_node("speak", speak).add_edge(START, "speak").compile()


class Count(TypedDict, total=False):
    count: Annotated[int, operator.add]
    until: int


counts = (
    StateGraph(Count)
    .add_node("step", lambda state: {"count": 1})
    .add_edge(START, "step")
    .add_conditional_edges("step", lambda state: "step" if state["count"] < state["until"] else "__end__")
    .compile()
)
