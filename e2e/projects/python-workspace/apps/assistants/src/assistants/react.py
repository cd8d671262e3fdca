"""An agent with tools, one of which a person has to approve."""

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from toolbox.models import RuledModel, call, results


@tool
def multiply(a: int, b: int) -> int:
    """Multiplies two numbers."""
    return a * b


@tool
def send_mail(to: str, text: str) -> str:
    """Sends a mail."""
    return f"sent to {to}: {text}"


def rule(messages):
    done = results(messages)
    if "multiply" not in done:
        return call("multiply", a=6, b=7)
    if "send_mail" not in done:
        return call("send_mail", to="ada", text=f"It is {done['multiply']}")
    return AIMessage(f"Done: {done['send_mail']}")


agent = create_agent(
    RuledModel(rule=rule),
    tools=[multiply, send_mail],
    system_prompt="You calculate and write mails.",
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"send_mail": True})],
)
