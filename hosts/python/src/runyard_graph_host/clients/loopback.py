"""Sends requests to the deployment's own server, over the socket that the parent opened."""

import asyncio
import os
import sys
from typing import Any
from weakref import WeakKeyDictionary

import httpx

from ..process.current_request import served_request
from ..process.current_run import running_code

_HOP_BY_HOP = frozenset(("connection", "keep-alive", "upgrade", "host"))
_OWN_HEADERS = "x-runyard-"
# No design needs more levels. Without a limit, middleware that calls its own server would recurse without end.
_DEPTH_MAX = 10
# Tells the SDK not to look for LangGraph's own server in this process.
_DEFERS = "__LANGGRAPH_DEFER_LOOPBACK_TRANSPORT"
# Modules of the SDK, by releases, that make clients without a URL.
_CLIENT_MODULES = ("langgraph_sdk._async.client", "langgraph_sdk.client")
_UNLIMITED = httpx.Limits(max_connections=None, max_keepalive_connections=100)

Headers = list[tuple[str, str]]


class LoopbackTransport(httpx.AsyncBaseTransport):
    """A transport of httpx whose server is the deployment's own, whatever the URL says.

    A request sent by it is made by the project itself, with all rights.
    """

    def __init__(self, socket_path: str, token: str) -> None:
        self._socket_path = socket_path
        self._token = token
        # Connections belong to an event loop, and threads of the project may have loops of their own.
        self._transports: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncHTTPTransport] = WeakKeyDictionary()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._send(request, [("host", "localhost"), *_about_caller(request)])

    async def pass_on(self, request: httpx.Request) -> httpx.Response:
        """Has the server answer the request that is being served, with the rights of its original caller."""
        served = served_request.get()
        if served is None or served.exchange is None:
            raise RuntimeError("Only a request that came from outside can be passed on, and once.")
        about = [(f"{_OWN_HEADERS}exchange", served.exchange), (f"{_OWN_HEADERS}depth", str(served.depth))]
        return await self._send(request, [("host", request.headers["host"]), *about])

    async def aclose(self) -> None:
        """Keeps the connections: other clients use them, too."""

    async def _send(self, request: httpx.Request, own: Headers) -> httpx.Response:
        headers = [
            (name, value)
            for name, value in request.headers.multi_items()
            if name not in _HOP_BY_HOP and not name.startswith(_OWN_HEADERS)
        ]
        headers += [*own, (f"{_OWN_HEADERS}loopback", self._token)]
        target = httpx.URL("http://localhost").copy_with(raw_path=request.url.raw_path)
        sent = httpx.Request(
            request.method, target, headers=headers, stream=request.stream, extensions=request.extensions
        )
        return await self._transport().handle_async_request(sent)

    def _transport(self) -> httpx.AsyncHTTPTransport:
        loop = asyncio.get_running_loop()
        transport = self._transports.get(loop)
        if transport is None:
            transport = httpx.AsyncHTTPTransport(uds=self._socket_path, limits=_UNLIMITED)
            self._transports[loop] = transport
        return transport


def _about_caller(request: httpx.Request) -> Headers:
    served = served_request.get()
    depth = (served.depth if served is not None else 0) + 1
    if depth > _DEPTH_MAX:
        raise RuntimeError(f"The project asks its own server, which asks the project again, {_DEPTH_MAX} levels deep.")
    about = [(f"{_OWN_HEADERS}depth", str(depth))]
    code = running_code.get()
    if code is not None:
        about.append((f"{_OWN_HEADERS}run", code.ids.run_id))
        if code.traceparent is not None and "traceparent" not in request.headers:
            about.append(("traceparent", code.traceparent))
    return about


def connect_clients(transport: LoopbackTransport) -> None:
    """Has clients of the SDK without a URL ask the deployment's own server."""
    os.environ[_DEFERS] = "true"

    def make_transport(*_: Any, **__: Any) -> LoopbackTransport:
        return transport

    for name in _CLIENT_MODULES:
        try:
            __import__(name)
        except ImportError:
            continue
        module = sys.modules[name]
        if hasattr(module, "get_asgi_transport"):
            module.get_asgi_transport = lambda: make_transport  # type: ignore[attr-defined] # The SDK's own name.
