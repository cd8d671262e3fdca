"""The way from user code's threads and event loops to the host's own loop."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Does the work on the host's loop, whichever loop waits for it."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def call(self, work: Coroutine[Any, Any, T], name: str) -> T:
        """Does the work for a thread, which waits for it.

        Raises InvalidStateError on the thread of the host's loop, which would wait for itself.
        """
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            work.close()
            raise asyncio.InvalidStateError(
                f"{name} was called in async code, where it would block every run of this process. "
                f"Await its async form, or call it in a plain `def`."
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
