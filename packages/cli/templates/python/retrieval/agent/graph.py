"""An agent that looks things up in your documents before it answers."""

from langchain.agents import create_agent

from agent.model import model
from agent.search import search_documents

agent = create_agent(
    model,
    tools=[search_documents],
    system_prompt="Look every question up with search_documents, answer from what it finds alone, and name the file.",
)
