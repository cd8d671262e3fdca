"""Decides how an attempt begins: with the run's request, or where an earlier attempt stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..storage.interrupt_answers import Load, find_untaken_answers, key_answer_by_interrupt
from ..storage.remote_checkpoints import RemoteCheckpoints
from ..storage.values import StoredCheckpoint
from .run_command import to_command
from .run_config import Request


@dataclass(frozen=True, slots=True)
class RunStart:
    # The input for LangGraph: the run's input, a command, or None to go on.
    input: Any
    # True when the thread's newest checkpoint is one of this run: the attempt goes on from it.
    is_resuming: bool
    # The checkpoint that it goes on from.
    newest: StoredCheckpoint | None = None


def start_fresh(request: Request, resume: Any = None) -> RunStart:
    """Begins a run with its request."""
    command = request.get("command")
    if resume is not None:
        command = {**(command or {}), "resume": resume}
    return RunStart(to_command(command) if command else request.get("input"), is_resuming=False)


async def decide_start(request: Request, checkpoints: RemoteCheckpoints, load: Load) -> RunStart:
    """Decides by the thread's newest checkpoint: nobody else writes the thread between the attempts of a run.

    Either this run made that checkpoint, and input and command have been applied; or none of the run's steps is stored,
    and the attempt begins like the first one.
    """
    thread_id: str = request["threadId"]
    if request["attempt"] > 1:
        newest = await checkpoints.read_ahead(thread_id)
        metadata = load(newest.metadata) if newest is not None else None
        if isinstance(metadata, Mapping) and metadata.get("run_id") == request["runId"]:
            return RunStart(None, is_resuming=True, newest=newest)
    return start_fresh(request, await _find_resume(request, checkpoints, load))


async def _find_resume(request: Request, checkpoints: RemoteCheckpoints, load: Load) -> Any:
    """Returns the answers of the run by the ids of their interrupts; None when it has none."""
    thread_id: str = request["threadId"]
    command = request.get("command")
    checkpoint_id = _starting_checkpoint_id(request["config"]["configurable"])
    if command:
        resume = command.get("resume")
        if resume is None:
            return None
        return key_answer_by_interrupt(resume, await checkpoints.read_ahead(thread_id, checkpoint_id), load)
    # A run from an earlier checkpoint is asked again what was asked there.
    if request.get("input") is not None or checkpoint_id is not None:
        return None
    return find_untaken_answers(await checkpoints.read_ahead(thread_id), load)


def _starting_checkpoint_id(configurable: Mapping[str, Any]) -> str | None:
    """Reads the id from the configuration as LangGraph does; None for the newest."""
    if configurable.get("checkpoint_ns"):
        return None
    found = configurable.get("checkpoint_id") or (configurable.get("checkpoint_map") or {}).get("")
    return str(found) if found else None
