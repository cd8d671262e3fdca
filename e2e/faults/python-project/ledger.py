"""Takes steps, and notes each in a file of the machine as often as it is executed."""

import asyncio
import json
import os
import time
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.types import Command

# The id is read while the worker certainly lives: a process whose parent has ended gets another one.
WORKER = os.getppid()

What = Literal["begun", "done", "stored", "refused"]


class State(TypedDict, total=False):
    """`ledger` is the path of the file. `sleepMs`, `events` and the `bytes` of an event are of each step."""

    ledger: str
    steps: int
    sleepMs: int
    events: int
    bytes: int
    # True when each step puts an item into the store, and notes the outcome.
    stores: bool
    done: Annotated[list[int], add]


async def take_step(state: State, config: RunnableConfig, runtime: Runtime[Any]) -> Command[Literal["step", "__end__"]]:
    step = len(state.get("done", []))
    ledger = state["ledger"]
    note(ledger, config, step, "begun")
    if state.get("stores") and runtime.store is not None:
        putting.add(task := asyncio.create_task(put_into_store(ledger, config, step, runtime.store)))
        task.add_done_callback(putting.discard)
    padding = "x" * state.get("bytes", 0)
    for number in range(state.get("events", 0)):
        event = {"step": step, "n": number, "attempt": attempt_of(config), "at": now_ms(), "padding": padding}
        runtime.stream_writer(event)
        if number % 50 == 49:
            await asyncio.sleep(0)
    await asyncio.sleep(state.get("sleepMs", 0) / 1000)
    note(ledger, config, step, "done")
    return Command(update={"done": [step]}, goto="step" if step + 1 < state["steps"] else END)


# The event loop itself holds tasks weakly.
putting: set[asyncio.Task[None]] = set()


async def put_into_store(file: str, config: RunnableConfig, step: int, store: BaseStore) -> None:
    """Puts an item while the step continues."""
    run = str(config["configurable"]["run_id"])
    try:
        await store.aput(("ledger", run), str(step), {"attempt": attempt_of(config)})
    except Exception:
        note(file, config, step, "refused")
    else:
        note(file, config, step, "stored")


def note(file: str, config: RunnableConfig, step: int, what: What) -> None:
    configurable = config["configurable"]
    entry = {
        "run": configurable["run_id"],
        "thread": configurable.get("thread_id"),
        "step": step,
        "attempt": attempt_of(config),
        "host": os.getpid(),
        "worker": WORKER,
        "what": what,
        "at": now_ms(),
    }
    # Each line is one write: lines of several processes do not mix.
    with open(file, "ab", buffering=0) as ledger:
        ledger.write(f"{json.dumps(entry)}\n".encode())


def attempt_of(config: RunnableConfig) -> Any:
    return config.get("metadata", {}).get("run_attempt")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


graph = StateGraph(State).add_node("step", take_step).add_edge(START, "step").compile()
