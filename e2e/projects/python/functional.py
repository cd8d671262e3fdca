"""A workflow of the functional API."""

from langgraph.func import entrypoint, task
from langgraph.types import StreamWriter


@task
def double(number: int) -> int:
    return number * 2


@entrypoint()
async def functional(numbers: list[int], *, previous: int | None = None, writer: StreamWriter) -> int:
    writer({"numbers": len(numbers)})
    doubled = [await double(number) for number in numbers]
    return sum(doubled) + (previous or 0)
