"""Matches interrupts that wait at a checkpoint with their answers.

Every attempt of a run gets the run's answers, by the ids of their interrupts; from the checkpoint, the graph sees only
the answers that its tasks had before that run.
"""

import re
from collections.abc import Callable
from typing import Any

from ..langgraph.names import CONTROL_CHANNELS, ERROR, INTERRUPT, NULL_TASK_ID, RESUME
from .values import PendingWrite, StoredCheckpoint, Value

Load = Callable[[Value], Any]

_INTERRUPT_ID = re.compile("[0-9a-f]{32}")


def are_asking(channels: list[str]) -> bool:
    """Returns whether a graph asks something by writes to these channels."""
    return INTERRUPT in channels


def without_given_answers(stored: StoredCheckpoint) -> StoredCheckpoint:
    """Removes the answers that must not reach the graph.

    The next interrupt would take an answer that LangGraph stored under no task's id.
    """
    before = stored.pending_writes if stored.interrupts_before_run is None else stored.interrupts_before_run
    taken = [write for write in before if write.channel == RESUME and not _is_given(write)]
    others = [write for write in stored.pending_writes if write.channel != RESUME]
    return stored.with_pending_writes([*others, *taken])


def key_answer_by_interrupt(resume: Any, stored: StoredCheckpoint | None, load: Load) -> Any:
    """Names the interrupt that a plain answer is for, where one alone waits.

    LangGraph's older lines check a plain answer for truth, so they would miss `False`, `0` and an empty text; and in a
    repeated attempt it would reach the next interrupt of a subgraph too. Where several wait, LangGraph refuses a plain
    answer.
    """
    if is_resume_map(resume):
        return resume
    waiting = {interrupt_id for interrupt_id, _ in _waiting_interrupts(stored, load)}
    return {waiting.pop(): resume} if len(waiting) == 1 else resume


def find_untaken_answers(stored: StoredCheckpoint | None, load: Load) -> Any:
    """Returns the answers that an earlier run got here for tasks that failed before they took them; None for none."""
    if stored is None:
        return None
    failed = {write.task_id for write in stored.pending_writes if write.channel == ERROR}
    if not failed:
        return None
    given: dict[str, Any] = {}
    taken: dict[str, Any] = {}
    for write in _interrupt_writes(stored, RESUME):
        answers = _as_list(load(write.value))
        (given if _is_given(write) else taken)[write.task_id] = answers[-1] if answers else None
    untaken = {
        interrupt_id: given[interrupt_id]
        for interrupt_id, task_id in _interrupts_at(stored, load)
        if task_id in failed
        and interrupt_id in given
        and not (task_id in taken and taken[task_id] == given[interrupt_id])
    }
    if untaken:
        return untaken
    return None if taken else given.get(NULL_TASK_ID)


def is_resume_map(resume: Any) -> bool:
    """Returns whether an answer names its interrupts, by LangGraph's own test."""
    return isinstance(resume, dict) and bool(resume) and all(_is_interrupt_id(key) for key in resume)


def _waiting_interrupts(stored: StoredCheckpoint | None, load: Load) -> list[tuple[str, str]]:
    if stored is None:
        return []
    # A task that has written anything else has finished.
    finished = {write.task_id for write in stored.pending_writes if write.channel not in CONTROL_CHANNELS}
    return [
        (interrupt_id, task_id)
        for interrupt_id, task_id in _interrupts_at(stored, load)
        if stored.interrupts_before_run is not None or task_id not in finished
    ]


def _interrupts_at(stored: StoredCheckpoint, load: Load) -> list[tuple[str, str]]:
    """Returns the id of each interrupt with the id of its task."""
    found = []
    for write in _interrupt_writes(stored, INTERRUPT):
        for interrupt in _as_list(load(write.value)):
            interrupt_id = interrupt.get("id") if isinstance(interrupt, dict) else getattr(interrupt, "id", None)
            if isinstance(interrupt_id, str):
                found.append((interrupt_id, write.task_id))
    return found


def _interrupt_writes(stored: StoredCheckpoint, channel: str) -> list[PendingWrite]:
    writes = stored.pending_writes if stored.interrupts_before_run is None else stored.interrupts_before_run
    return [write for write in writes if write.channel == channel]


def _is_given(write: PendingWrite) -> bool:
    """Returns whether an answer is as given: one that was taken has the id of a task."""
    return write.task_id == NULL_TASK_ID or _is_interrupt_id(write.task_id)


def _is_interrupt_id(text: object) -> bool:
    return isinstance(text, str) and _INTERRUPT_ID.fullmatch(text) is not None


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
