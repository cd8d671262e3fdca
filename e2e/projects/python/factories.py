"""Functions that make a graph for each use."""

from contextlib import asynccontextmanager

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph_sdk.runtime import ServerRuntime
from typing_extensions import TypedDict


class Text(TypedDict, total=False):
    text: str


def saying(text: str):
    return StateGraph(Text).add_node("say", lambda state: {"text": text}).add_edge(START, "say")


def by_config(config: RunnableConfig):
    return saying(f"configured: {config.get('configurable', {}).get('mood', 'none')}").compile()


def by_runtime(runtime: ServerRuntime):
    return saying(f"for: {runtime.access_context}").compile()


@asynccontextmanager
async def opened(config: RunnableConfig):
    yield saying("opened")
