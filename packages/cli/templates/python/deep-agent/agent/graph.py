"""A deep agent: it writes a plan, gives work to agents below it, and keeps what it writes in files of its state.

Each thread has files of its own.
"""

from deepagents import create_deep_agent
from langchain.agents.middleware import TodoListMiddleware

from agent.model import director_model, reader_model
from agent.tools import look_up

agent = create_deep_agent(
    model=director_model,
    system_prompt="You write short reports. Plan first, have the reader look up the facts, then write /report.md.",
    middleware=[TodoListMiddleware()],
    subagents=[
        {
            "name": "reader",
            "description": "Looks up the facts about a topic.",
            "system_prompt": "Look the topic up, and say what you found.",
            "tools": [look_up],
            "model": reader_model,
        }
    ],
)
