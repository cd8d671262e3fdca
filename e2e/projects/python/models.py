"""Chat models without a provider: what they say is written here."""

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


async def answer(state: MessagesState):
    """Streams word by word."""
    model = GenericFakeChatModel(messages=iter([AIMessage("Hello dear Ada", id="said")]))
    return {"messages": [await model.ainvoke(state["messages"])]}


chat = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").add_edge("answer", END).compile()


@tool
def multiply(a: int, b: int) -> int:
    """Multiplies two numbers."""
    return a * b


def think(state: MessagesState):
    """Asks for the tool once, then says what it gave."""
    last = state["messages"][-1]
    if last.type == "tool":
        return {"messages": [AIMessage(f"That makes {last.content}", id="answered")]}
    call = {"name": "multiply", "args": {"a": 6, "b": 7}, "id": "call-1", "type": "tool_call"}
    return {"messages": [AIMessage("", id="asked", tool_calls=[call])]}


tools = (
    StateGraph(MessagesState)
    .add_node("think", think)
    .add_node("tools", ToolNode([multiply]))
    .add_edge(START, "think")
    .add_conditional_edges("think", tools_condition)
    .add_edge("tools", "think")
    .compile()
)
