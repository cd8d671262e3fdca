"""A graph that asks before it sends, as LangGraph's documentation has them."""

import operator
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from langgraph_sdk import get_client
from pool import pool
from typing_extensions import TypedDict


@dataclass
class Draft:
    text: str


class State(MessagesState):
    draft: Draft


async def write(state: State):
    model = GenericFakeChatModel(messages=iter([AIMessage("Dear Ada")]))
    message = await model.ainvoke(state["messages"])
    return {"messages": [message], "draft": Draft(message.text)}


def send(state: State):
    print("asking")
    answer = interrupt({"question": "Send it?", "draft": state["draft"].text})
    return {"messages": [AIMessage(f"sent: {answer}")]}


graph = (
    StateGraph(State)
    .add_node("write", write)
    .add_node("send", send)
    .add_edge(START, "write")
    .add_edge("write", "send")
    .add_edge("send", END)
    .compile()
)


class Steps(TypedDict, total=False):
    log: Annotated[list, operator.add]


def step(state: Steps):
    return {"log": [len(state["log"])]}


builder = StateGraph(Steps)
for number in range(5):
    builder.add_node(f"step{number}", step)
    builder.add_edge(f"step{number - 1}" if number else START, f"step{number}")
steps = builder.compile()


class Mortal(Steps, total=False):
    marker: str


def die_once(state: Mortal):
    marker = Path(state["marker"])
    if not marker.exists():
        marker.touch()
        os._exit(1)
    return {"log": ["after"]}


dies_once = (
    StateGraph(Mortal)
    .add_node("before", lambda state: {"log": ["before"]})
    .add_node("after", die_once)
    .add_edge(START, "before")
    .add_edge("before", "after")
    .compile()
)


async def call_home(state: Steps):
    client = get_client()
    thread = await client.threads.create(metadata={"made": "inside"})
    found = await client.threads.get(thread["thread_id"])
    return {"log": [found["metadata"]["made"]]}


calls_home = StateGraph(Steps).add_node("call", call_home).add_edge(START, "call").compile()


async def use_pool(state: Steps):
    return {"log": [pool["state"]]}


uses_pool = StateGraph(Steps).add_node("use", use_pool).add_edge(START, "use").compile()
