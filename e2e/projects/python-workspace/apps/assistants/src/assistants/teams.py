"""Agents that work together: under a supervisor, and as a swarm."""

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm
from toolbox.models import RuledModel, call, question, results


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def calculate(messages):
    done = results(messages)
    return AIMessage(f"The sum is {done['add']}.") if "add" in done else call("add", a=40, b=2)


def supervise(messages):
    if "transfer_to_mathematician" not in results(messages):
        return call("transfer_to_mathematician")
    return AIMessage("The mathematician is done.")


mathematician = create_agent(RuledModel(rule=calculate), tools=[add], name="mathematician")
# The saver is that of tutorials, which have no server.
supervisor = create_supervisor([mathematician], model=RuledModel(rule=supervise), prompt="You lead.").compile(
    checkpointer=InMemorySaver()
)


def welcome(messages):
    if "to a person" in question(messages):
        return call("transfer_to_clerk")
    return AIMessage("Welcome!")


host = create_agent(
    RuledModel(rule=welcome),
    tools=[create_handoff_tool(agent_name="clerk", description="Hands over to the clerk.")],
    name="host",
)
clerk = create_agent(
    RuledModel(rule=lambda messages: AIMessage(f"The clerk heard: {question(messages)}")), tools=[], name="clerk"
)
swarm = create_swarm([host, clerk], default_active_agent="host").compile()
