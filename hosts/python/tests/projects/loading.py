"""What a project may export, and what not."""

import contextlib
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import MemorySaver
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph

try:
    from langgraph_sdk.runtime import ServerRuntime
except ImportError:
    # The SDK that belongs to LangGraph before 1.1 has no runtime for factories.
    ServerRuntime = dict


class State(TypedDict):
    text: str


builder = StateGraph(State).add_node("node", lambda state: state).add_edge(START, "node")
graph = builder.compile()
with_saver = builder.compile(checkpointer=MemorySaver())
seen: list[object] = []


@entrypoint()
def functional(text: str) -> str:
    return text


def plain():
    seen.append(())
    return builder


async def takes_config(config: RunnableConfig):
    seen.append(config)
    return graph


def takes_runtime(runtime: ServerRuntime[dict]):
    seen.append(runtime)
    return graph


def takes_text_runtime(anything: "ServerRuntime"):
    seen.append(anything)
    return graph


def takes_both(rt: Annotated[ServerRuntime, "runtime"], cfg):
    seen.append((rt, cfg))
    return graph


@contextlib.asynccontextmanager
async def opens(config):
    seen.append("open")
    yield graph
    seen.append("closed")


@contextlib.contextmanager
def opens_plainly():
    seen.append("open")
    yield graph
    seen.append("closed")


def takes_three(a, b, c):
    return graph


def takes_two(a, b):
    return graph


text = "no graph"
