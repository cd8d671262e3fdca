"""The chat models: the one that MODEL names for both agents, else rules that need no key."""

import os

from agent.fake_model import FakeModel, last_question, tool_answers


def direct(messages):
    """Plans, has the reader look up what was asked for, and writes the report."""
    topic = last_question(messages)
    answers = tool_answers(messages)
    if "write_todos" not in answers:
        plan = ["Look up the facts", "Write the report"]
        return "write_todos", {"todos": [{"content": content, "status": "pending"} for content in plan]}
    if "task" not in answers:
        return "task", {"description": topic, "subagent_type": "reader"}
    if "write_file" not in answers:
        return "write_file", {"file_path": "/report.md", "content": f"# {topic}\n\n{answers['task']}\n"}
    return f"The report is in /report.md. {answers['task']}"


def read(messages):
    found = tool_answers(messages).get("look_up")
    return found or ("look_up", {"topic": last_question(messages)})


director_model = os.environ.get("MODEL") or FakeModel(decide=direct)
reader_model = os.environ.get("MODEL") or FakeModel(decide=read)
