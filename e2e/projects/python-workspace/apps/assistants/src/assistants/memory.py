"""Remembers what its user said, over all threads, and finds it by meaning."""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from toolbox.models import question


@dataclass(kw_only=True)
class Context:
    found_max: int = field(default=1, metadata={"description": "How many memories an answer uses."})


async def answer(state: MessagesState, config: RunnableConfig, runtime: Runtime[Context]):
    user = config["configurable"]["langgraph_auth_user"]
    namespace = (user["identity"], "memories")
    text = question(state["messages"])
    if text.startswith("remember "):
        value = {"text": text.removeprefix("remember "), "at": datetime.now(UTC).isoformat()}
        await runtime.store.aput(namespace, str(uuid.uuid4()), value)
        return {"messages": [AIMessage("noted")]}
    found = await runtime.store.asearch(namespace, query=text, limit=runtime.context.found_max)
    return {"messages": [AIMessage("; ".join(item.value["text"] for item in found) or "nothing")]}


graph = StateGraph(MessagesState, context_schema=Context).add_node(answer).add_edge(START, "answer").compile()
