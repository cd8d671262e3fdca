"""A workflow of the functional API, which asks a person and keeps what it wrote."""

from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
def write(topic: str) -> str:
    return f"An essay about {topic}"


@entrypoint()
def essay(topic: str, *, previous: list[str] | None = None) -> entrypoint.final[dict, list[str]]:
    text = write(topic).result()
    is_good = interrupt({"essay": text, "question": "Is it good?"})
    kept = [*(previous or []), text] if is_good else (previous or [])
    return entrypoint.final(value={"essay": text, "kept": len(kept)}, save=kept)
