"""Looks documents up, then answers from them."""

from typing import Annotated

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import START, MessagesState, StateGraph
from toolbox.models import RuledModel, question

DOCUMENTS = [
    Document("Tea is made with water at 95 degrees.", metadata={"source": "tea.md"}),
    Document("Coffee is made with water at 92 degrees.", metadata={"source": "coffee.md"}),
]


class WordRetriever(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [each for each in DOCUMENTS if each.page_content.split()[0].lower() in query.lower()]


class State(MessagesState):
    documents: Annotated[list[Document], lambda before, after: after]


prompt = ChatPromptTemplate.from_messages([("system", "{documents}"), ("placeholder", "{messages}")])
chain = prompt | RuledModel(rule=lambda messages: AIMessage(f"According to {messages[0].content}"))


async def retrieve(state: State):
    return {"documents": await WordRetriever().ainvoke(question(state["messages"]))}


async def generate(state: State):
    sources = ", ".join(each.metadata["source"] for each in state["documents"])
    return {"messages": [await chain.ainvoke({"documents": sources, "messages": state["messages"]})]}


graph = StateGraph(State).add_sequence([retrieve, generate]).add_edge(START, "retrieve").compile()
