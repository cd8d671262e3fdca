"""Opens and closes what an app needs for all its requests, as servers of ASGI do."""

import asyncio
from typing import Any

from ..process.exits import ProcessExitError
from .asgi import AsgiApp, Message

# Seconds that an app may take to close what it has opened. The parent ends the process soon after.
_CLOSES_WITHIN = 3.0


class Lifespan:
    """Keeps one task for both ends: what an app opens in a task must be closed there."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app
        # Each request gets a copy of what the app has put here.
        self.state: dict[str, Any] = {}
        self._closes = asyncio.Event()
        self._opening: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Opens once, and again after a failure. Raises what the app raises."""
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._opening), name="lifespan of the app")
        try:
            await asyncio.shield(self._opening)
        except Exception:
            self._opening = None
            raise

    async def close(self) -> None:
        self._closes.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_CLOSES_WITHIN)

    async def _run(self, opening: "asyncio.Future[None]") -> None:
        messages: list[Message] = [{"type": "lifespan.startup"}]

        async def receive() -> Message:
            if messages:
                return messages.pop()
            await self._closes.wait()
            return {"type": "lifespan.shutdown"}

        async def send(message: Message) -> None:
            # An app that fails says so, and raises.
            if message["type"] == "lifespan.startup.complete":
                opening.set_result(None)

        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self.state}
        try:
            await self._app(scope, receive, send)
        except BaseException as error:
            if opening.done():
                raise
            opening.set_exception(error if isinstance(error, Exception) else ProcessExitError(error))
        else:
            # An app that knows no lifespan returns, and opens nothing.
            if not opening.done():
                opening.set_result(None)
