"""An agent with tools: the model decides, a tool acts, until there is an answer.

Before it sends an email the run stops, for minutes or for weeks, until a person has decided.
"""

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware

from agent.model import model
from agent.tools import calculator, send_email

agent = create_agent(
    model,
    tools=[calculator, send_email],
    system_prompt="You are a helpful agent. Use the calculator for every sum, and be brief.",
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"send_email": True})],
)
