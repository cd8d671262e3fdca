"""Passes requests that the project's app does not answer on to the deployment's own server."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, unquote

import httpx
from starlette.routing import Match, Route, Router

from ..clients.loopback import LoopbackTransport
from .asgi import Receive, Scope, Send

_HOP_BY_HOP = frozenset((b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade"))
_NOT_FOUND = 404
# Has the server's answer, once the app is asked again what it would answer alone.
_ANSWER = "runyard.answer"

Headers = list[tuple[bytes, bytes]]


class ServerRoute(Route):
    """The last route of an app: it fits every request, and answers as the server does."""

    def __init__(self, loopback: LoopbackTransport, router: Router) -> None:
        super().__init__("/{path:path}", self._respond, include_in_schema=False)
        self.app = self._respond
        self.methods = None
        self._loopback = loopback
        self._router = router
        self._not_found = router.default
        router.default = self._relay_or_refuse

    def matches(self, scope: Scope) -> tuple[Match, Any]:
        if scope["type"] != "http" or _ANSWER in scope:
            return Match.NONE, {}
        return Match.FULL, {"endpoint": self.endpoint, "path_params": {}}

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _RequestBody(receive)
        answering = asyncio.ensure_future(self._answer(scope, body, receive, send))
        leaving = asyncio.ensure_future(body.wait_until_client_leaves())
        try:
            await asyncio.wait([answering, leaving], return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.wait([answering, leaving])

    async def _answer(self, scope: Scope, body: "_RequestBody", receive: Receive, send: Send) -> None:
        headers: Headers = [
            (name, value) for name, value in scope["headers"] if name != b"content-length" and name not in _HOP_BY_HOP
        ]
        headers += await body.begin()
        url = httpx.URL("http://localhost").copy_with(raw_path=_target_of(scope))
        answer = await self._loopback.pass_on(httpx.Request(scope["method"], url, headers=headers, stream=body))
        try:
            if answer.status_code == _NOT_FOUND:
                # The app may know the path with another method, or with a slash at its end.
                scope[_ANSWER] = answer
                await self._router(scope, receive, send)
            else:
                await _relay(answer, send)
        finally:
            await answer.aclose()

    async def _relay_or_refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = scope.get(_ANSWER)
        if answer is None:
            await self._not_found(scope, receive, send)
        else:
            await _relay(answer, send)


class _RequestBody(httpx.AsyncByteStream):
    """The body of a request as the middleware of the app has left it: its length may be another one."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._first = b""
        self._has_more = True
        self._is_read = asyncio.Event()

    async def begin(self) -> Headers:
        """Reads the first part, and returns the header that says how much is to come."""
        self._first = await self._read()
        if self._has_more:
            return [(b"transfer-encoding", b"chunked")]
        return [(b"content-length", str(len(self._first)).encode())] if self._first else []

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._first
        while self._has_more:
            yield await self._read()

    async def wait_until_client_leaves(self) -> None:
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _read(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client has left before its request was read")
        self._has_more = message.get("more_body", False)
        if not self._has_more:
            self._is_read.set()
        body: bytes = message.get("body", b"")
        return body


async def _relay(answer: httpx.Response, send: Send) -> None:
    headers = [(name.lower(), value) for name, value in answer.headers.raw if name.lower() not in _HOP_BY_HOP]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
    async for chunk in answer.aiter_raw():
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _target_of(scope: Scope) -> bytes:
    """Returns path and query as they came, unless middleware has changed the path."""
    path: str = scope["path"]
    raw: bytes = scope.get("raw_path") or b""
    if unquote(raw.decode("latin-1")) != path:
        raw = quote(path).encode()
    query: bytes = scope["query_string"]
    return raw + b"?" + query if query else raw
