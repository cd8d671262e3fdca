"""A graph whose model says what it is and what it has used, as models of providers do."""

from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class MeteredModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "metered"

    def _get_invocation_params(self, stop: Any = None, **kwargs: Any) -> dict[str, Any]:
        return {"model": "metered-1", "temperature": 0.5, "max_tokens": 10, "top_p": 0.9}

    def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
        return {"ls_provider": "google_genai", "ls_model_name": "metered-1", "ls_model_type": "chat"}

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        if any(message.content == "fail" for message in messages):
            raise ValueError("password=hunter22 was refused")
        message = AIMessage(
            id="answer-1",
            content="all is well",
            usage_metadata={
                "input_tokens": 12,
                "output_tokens": 3,
                "total_tokens": 15,
                "input_token_details": {"cache_read": 4, "cache_creation": 5},
                "output_token_details": {"reasoning": 2},
            },
            response_metadata={"model_name": "metered-1-2026", "finish_reason": "stop"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def look(place: str) -> str:
    """Look."""
    return f"seen {place}"


class State(TypedDict, total=False):
    ask: str
    times: int


model = MeteredModel()
CALL = {"type": "tool_call", "name": "look", "id": "call-1", "args": {"place": "token=abcdefgh"}}


async def work(state: State) -> State:
    for _ in range(state.get("times", 1)):
        await look.ainvoke(CALL)
    called = AIMessage("", tool_calls=[{"name": "look", "id": "call-1", "args": {"place": "here"}}])
    said = [SystemMessage("be brief"), HumanMessage(state["ask"]), called, ToolMessage("seen", tool_call_id="call-1")]
    # In a thread, as plain functions are.
    await model.ainvoke(said)
    return {}


def wait(state: State) -> State:
    if state["ask"] == "wait":
        interrupt("ok?")
    return {}


metered = (
    StateGraph(State)
    .add_node("work", work)
    .add_node("wait", wait)
    .add_edge(START, "work")
    .add_edge("work", "wait")
    .add_edge("wait", END)
    .compile()
)
