"""A graph that asks a model in each of its three steps, which uses ten tokens each time."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, StateGraph


class MeteredModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "metered"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="well", usage_metadata=usage))])


def join(left: list[str], right: list[str]) -> list[str]:
    return [*left, *right]


class State(TypedDict, total=False):
    ledger: str
    # The file in which a step waits for its name.
    gate: str
    log: Annotated[list[str], join]


model = MeteredModel()


def asks(name: str) -> Any:
    async def ask(state: State) -> State:
        with Path(state["ledger"]).open("a") as ledger:
            ledger.write(f"{name}\n")
        while "gate" in state and name not in Path(state["gate"]).read_text():
            await asyncio.sleep(0.01)
        await model.ainvoke("How is it?")
        return {"log": [name]}

    return ask


metered = (
    StateGraph(State)
    .add_node("one", asks("one"))
    .add_node("two", asks("two"))
    .add_node("three", asks("three"))
    .add_edge(START, "one")
    .add_edge("one", "two")
    .add_edge("two", "three")
    .compile()
)
