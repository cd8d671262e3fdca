"""Graphs of many kinds."""

import asyncio
import operator
import sys
from typing import Annotated

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.config import get_store, get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    text: str
    log: Annotated[list, operator.add]


def compiled(**nodes):
    builder = StateGraph(State)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return builder.compile()


async def slow(state):
    await asyncio.sleep(0)
    return {"log": ["slow"]}


inner = compiled(first=lambda state: {"log": ["first"]}, second=slow)
plain = compiled(first=lambda state: {"log": ["plain"]})
hoards = compiled(first=lambda state: {"text": "a" * 2**21})
outer = compiled(before=lambda state: {"log": ["before"]}, child=inner)
steps = compiled(**{f"step{n}": lambda state: {"log": [1]} for n in range(8)})


def ask_twice(state):
    return {"text": f"{interrupt('one?')} {interrupt('two?')}"}


asks = compiled(ask=ask_twice)
asking_inside = compiled(
    child=compiled(
        ask=lambda state: {"text": interrupt("inside?")},
        later=lambda state: {"log": [interrupt("later?")]},
    )
)


def exits(state):
    sys.exit(3)


async def exits_later(state):
    async def leave():
        sys.exit(4)

    return await asyncio.create_task(leave())


exiting, exiting_later = compiled(node=exits), compiled(node=exits_later)


def fan_out(state):
    return [Send("work", {"text": str(number)}) for number in range(3)]


fans = (
    StateGraph(State)
    .add_node("work", lambda state: {"log": [state["text"]]})
    .add_conditional_edges(START, fan_out, ["work"])
    .compile()
)
jumps = (
    StateGraph(State)
    .add_node("start", lambda state: Command(goto="end", update={"log": ["start"]}), destinations=("end",))
    .add_node("end", lambda state: {"log": ["end"]})
    .add_edge(START, "start")
    .compile()
)


async def say(state):
    get_stream_writer()({"progress": 1})
    model = GenericFakeChatModel(messages=iter([AIMessage("Hello there", id="m")]))
    return {"messages": [await model.ainvoke(state["messages"])]}


talks = StateGraph(MessagesState).add_node("say", say).add_edge(START, "say").compile()
talks_inside = StateGraph(MessagesState).add_node("child", talks).add_edge(START, "child").compile()


@task
def double(number):
    return number * 2


@entrypoint()
def functional(numbers, *, previous=None):
    return sum(double(number).result() for number in numbers) + (previous or 0)


async def swallow(state):
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print("cancelled")
        raise
    return {}


waits = compiled(node=swallow)


async def remember(state):
    store = get_store()
    await store.aput(("a", "b"), "key", {"text": state["text"]})
    item = await store.aget(("a", "b"), "key")
    return {"log": [item.value["text"], [list(namespace) for namespace in await store.alist_namespaces()]]}


def remember_plainly(state):
    get_store().put(("c",), "key", {"text": "plain"})
    return {"text": get_store().get(("c",), "key").value["text"]}


remembers = compiled(node=remember, plain=remember_plainly)


def invoke_inside(state):
    return plain.invoke(state)


invokes = compiled(node=invoke_inside)
unstorable = compiled(node=lambda state: {"text": (number for number in ())})
