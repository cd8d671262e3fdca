"""A deep agent: it plans, asks an agent below it, and writes a file."""

from deepagents import create_deep_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from toolbox.models import RuledModel, call, question, results


@tool
def look_up(topic: str) -> str:
    """Looks a topic up."""
    return f"all about {topic}"


def look(messages):
    done = results(messages)
    if "look_up" not in done:
        return call("look_up", topic=question(messages))
    return AIMessage(f"Found {done['look_up']}")


def direct(messages):
    done = results(messages)
    if "write_todos" not in done:
        return call("write_todos", todos=[{"content": "look it up", "status": "in_progress"}])
    if "task" not in done:
        return call("task", description=question(messages), subagent_type="reader")
    if "write_file" not in done:
        return call("write_file", file_path="/report.md", content=done["task"])
    return AIMessage("The report is written.")


agent = create_deep_agent(
    model=RuledModel(rule=direct),
    system_prompt="You write reports.",
    middleware=[TodoListMiddleware()],
    subagents=[
        {
            "name": "reader",
            "description": "Reads about a topic.",
            "system_prompt": "You read.",
            "tools": [look_up],
            "model": RuledModel(rule=look),
        }
    ],
)
