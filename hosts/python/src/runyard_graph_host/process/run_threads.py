"""The threads of plain functions: nothing can stop one, so a run that is cut short may leave some behind."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from .current_run import running_code

T = TypeVar("T")

# Python's own number of these is small on small machines, and each waits for a model most of the time.
_THREADS = 64


class RunThreads(ThreadPoolExecutor):
    """Knows which run's function each thread executes."""

    def __init__(self) -> None:
        super().__init__(_THREADS, thread_name_prefix="runyard")
        self._working: dict[str, set[Future[Any]]] = {}

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        future = super().submit(fn, *args, **kwargs)
        code = running_code.get()
        if code is not None:
            working = self._working.setdefault(code.ids.run_id, set())
            working.add(future)
            future.add_done_callback(working.discard)
        return future

    def take_left(self, run_id: str) -> list["asyncio.Future[Any]"]:
        """Returns the functions of an ended run that still work."""
        left = self._working.pop(run_id, ())
        return [asyncio.wrap_future(future) for future in list(left)]
