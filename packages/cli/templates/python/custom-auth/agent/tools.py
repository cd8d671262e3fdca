"""Notes in the store of the deployment: they outlast the thread. Each user has those below the own name."""

from langchain.tools import ToolRuntime, tool


def user_of(runtime: ToolRuntime) -> str:
    """Returns the name that `authenticate` in auth.py gave the caller."""
    return runtime.config["configurable"]["langgraph_auth_user"]["identity"]


@tool
async def save_note(text: str, runtime: ToolRuntime) -> str:
    """Keeps a note for the person who speaks."""
    user = user_of(runtime)
    await runtime.store.aput((user, "notes"), text, {"text": text})
    return f"Noted for {user}: {text}"


@tool
async def list_notes(runtime: ToolRuntime) -> str:
    """Reads the notes of the person who speaks."""
    user = user_of(runtime)
    notes = await runtime.store.asearch((user, "notes"), limit=50)
    return f"Notes of {user}: {', '.join(item.value['text'] for item in notes) or 'none'}"
