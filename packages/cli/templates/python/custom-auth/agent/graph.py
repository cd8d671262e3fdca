"""An agent that knows who speaks with it, and keeps notes of each user apart."""

from langchain.agents import create_agent

from agent.model import model
from agent.tools import list_notes, save_note

agent = create_agent(
    model,
    tools=[save_note, list_notes],
    system_prompt="You keep notes for the person who speaks with you.",
)
