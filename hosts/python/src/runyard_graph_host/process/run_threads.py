"""The threads of plain functions: nothing can stop one, so a run that is cut short may leave some behind."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from .current_run import RunningCode, running_code

T = TypeVar("T")

# Python's own number of these is small on small machines, and each waits for a model most of the time.
_THREADS = 64


class RunThreads(ThreadPoolExecutor):
    """Knows which run's function each thread executes."""

    def __init__(self) -> None:
        super().__init__(_THREADS, thread_name_prefix="runyard")
        self._lock = threading.Lock()
        # By attempt: another of the same run may be in this process, too. An entry keeps its key from being another's.
        self._working: dict[int, tuple[RunningCode, set[Future[Any]]]] = {}

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        future = super().submit(fn, *args, **kwargs)
        code = running_code.get()
        if code is not None:
            with self._lock:
                _, working = self._working.setdefault(id(code), (code, set()))
                working.add(future)
            future.add_done_callback(lambda done: self._forget(id(code), working, done))
        return future

    def take_left(self, code: RunningCode) -> list["asyncio.Future[Any]"]:
        """Returns the functions of an ended attempt that still work."""
        with self._lock:
            _, left = self._working.pop(id(code), (code, set()))
            return [asyncio.wrap_future(future) for future in left]

    def _forget(self, key: int, working: set[Future[Any]], done: Future[Any]) -> None:
        with self._lock:
            working.discard(done)
            # What a left function has started makes an entry that nobody takes.
            if not working and self._working.get(key, (None, None))[1] is working:
                del self._working[key]
