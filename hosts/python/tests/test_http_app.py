"""Apps of projects, in front of a server that answers as the deployment's own."""

import asyncio
import base64
import gc
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from websockets.asyncio.client import unix_connect

from fake_parent import FakeParent, started_host
from host_process import host_process, lines
from runyard_graph_host.app.serving import listen
from runyard_graph_host.protocol.errors import RemoteError

PROJECTS = Path(__file__).parent / "projects"
USER = {"identity": "ädä", "display_name": "Ada", "is_authenticated": True, "permissions": ["read"], "team": "蓝"}


class FakeServer:
    """The deployment's own server: it keeps what it is asked, and knows few paths."""

    def __init__(self, socket_path: str) -> None:
        self.loopback = {"socketPath": socket_path, "token": "the token"}
        self.asked: list[dict[str, Any]] = []
        self.has_seen_client_leave = asyncio.Event()

    async def answer(self, request: Request) -> Response:
        headers = request.headers
        assert headers["x-runyard-loopback"] == "the token"
        raw_path = request.scope["raw_path"].decode()
        query = request.scope["query_string"].decode()
        self.asked.append(
            {
                "method": request.method,
                "url": f"{raw_path}?{query}" if query else raw_path,
                "body": (await request.body()).decode(),
                "exchange": headers.get("x-runyard-exchange"),
                "depth": headers.get("x-runyard-depth"),
                "host": headers["host"],
            }
        )
        if request.url.path == "/endless":
            return StreamingResponse(self._endless())
        if request.url.path.startswith(("/threads", "/runs", "//")):
            response = JSONResponse({"thread_id": "1"}, 201)
            response.set_cookie("a", "1")
            response.set_cookie("b", "2")
            return response
        return JSONResponse({"detail": "Not Found"}, 404)

    async def _endless(self) -> AsyncIterator[str]:
        try:
            while True:
                yield "data: 1\n\n"
                await asyncio.sleep(0.01)
        finally:
            self.has_seen_client_leave.set()


class Served:
    """The app as the parent reaches it."""

    def __init__(self, parent: FakeParent, server: FakeServer, folder: str) -> None:
        self.parent = parent
        self.server = server
        self._folder = folder
        self.socket_path = ""
        self.description: dict[str, Any] = {}
        self.client = httpx.AsyncClient()

    async def serve(self, symbol: str) -> None:
        self.socket_path = f"{self._folder}/{symbol}"
        source = {"file": str(PROJECTS / "routes.py"), "symbol": symbol}
        answer = await self.parent.request("app.serve", app=source, socketPath=self.socket_path)
        self.description = answer.ok
        await self.client.aclose()
        self.client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=self.socket_path),
            base_url="http://example.com",
            headers={"x-runyard-exchange": "exchange-1"},
        )


@asynccontextmanager
async def fake_server() -> AsyncIterator[FakeServer]:
    with tempfile.TemporaryDirectory() as folder:
        server = FakeServer(f"{folder}/server")
        methods = ["GET", "POST", "DELETE"]
        app = Starlette(routes=[Route("/{path:path}", server.answer, methods=methods)])
        stop_listening = await listen(app, f"{folder}/server")
        yield server
        stop_listening()


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with fake_server() as server, started_host(PROJECTS, server.loopback) as parent:
        with tempfile.TemporaryDirectory() as folder:
            served = Served(parent, server, folder)
            await served.serve("app")
            yield served
            await served.client.aclose()
            await parent.request("shutdown")


def encoded(user: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(user).encode()).decode().rstrip("=")


async def test_an_app_answers_its_routes_shadowed_ones_too_with_what_its_middleware_adds(served: Served) -> None:
    answer = await served.client.get("/threads/shadowed")
    assert (answer.json(), answer.headers["x-middleware"]) == ({"shadowed": True}, "seen")
    assert (await served.client.get("/items/7")).json() == {"item": 7}
    assert (await served.client.get("/threads?answer=middleware")).json() == {"by": "middleware"}
    assert served.server.asked == []


async def test_a_request_that_no_route_fits_goes_on_and_middleware_sees_the_answer(served: Served) -> None:
    answer = await served.client.post("/threads?a=1", content=b'{"limit":1}')
    assert (answer.status_code, answer.headers["x-middleware"]) == (201, "seen")
    assert [value.split(";")[0] for value in answer.headers.get_list("set-cookie")] == ["a=1", "b=2"]
    asked = {"url": "/threads?a=1", "body": '{"limit":1}', "exchange": "exchange-1", "depth": "0"}
    assert served.server.asked == [{"method": "POST", **asked, "host": "example.com"}]
    await served.client.get("http://example.com//other.example/threads")
    await served.client.delete("/threads/a%2Fb")
    assert [asked["url"] for asked in served.server.asked[1:]] == ["//other.example/threads", "/threads/a%2Fb"]


async def test_large_bodies_go_on_in_parts(served: Served) -> None:
    body = b"x" * 4 * 1024 * 1024
    assert (await served.client.post("/custom/size", content=body)).json() == {"size": len(body)}
    await served.client.post("/runs/batch", content=body)
    assert len(served.server.asked[0]["body"]) == len(body)


async def test_middleware_may_change_the_body_of_a_request_that_goes_on(served: Served) -> None:
    await served.serve("rewriting")
    await served.client.post("/threads", content=b"ink")
    assert served.server.asked[0]["body"] == "blue ink"


async def test_a_path_that_the_server_does_not_know_is_answered_as_the_app_would_alone(served: Served) -> None:
    redirect = await served.client.get("/items")
    assert (redirect.status_code, redirect.headers["location"]) == (307, "http://example.com/items/")
    assert (await served.client.post("/items/7")).status_code == 405
    unknown = await served.client.get("/unknown")
    assert (unknown.status_code, unknown.json()) == (404, {"detail": "Not Found"})


async def test_errors_of_routes_are_json_without_their_text_unless_the_app_says_otherwise(served: Served) -> None:
    failed = await served.client.get("/custom/error")
    assert (failed.status_code, failed.json()) == (500, {"detail": "Internal Server Error"})
    refused = await served.client.get("/custom/refused")
    assert (refused.status_code, refused.json()) == (418, {"detail": "no tea"})
    assert refused.headers["x-why"] == "kettle"
    assert (await served.client.get("/custom/ink")).json() == {"ink": False}
    await served.serve("plain")
    assert (await served.client.get("/refuse")).json() == {"detail": "not today"}


async def test_a_route_finds_the_user_of_a_request_and_no_header_of_the_platform(served: Served) -> None:
    headers = {"x-runyard-user": encoded(USER), "x-forwarded-for": "203.0.113.9"}
    known = (await served.client.get("/custom/user", headers=headers)).json()
    assert known == {"identity": "ädä", "team": "蓝", "scopes": ["read"], "client": "203.0.113.9"}
    unknown = (await served.client.get("/custom/user")).json()
    assert unknown == {"identity": None, "team": None, "scopes": [], "client": "127.0.0.1"}
    seen = (await served.client.get("/custom/headers", headers=headers)).json()
    assert [name for name in seen if name.startswith("x-runyard")] == []


async def test_code_of_a_route_asks_its_own_server_with_its_own_rights_and_not_without_end(served: Served) -> None:
    assert (await served.client.get("/custom/own", headers={"x-runyard-depth": "3"})).json() == {"thread_id": "1"}
    asked = served.server.asked[0]
    assert (asked["exchange"], asked["depth"], json.loads(asked["body"])) == (None, "4", {"metadata": {"a": 1}})
    assert (await served.client.get("/custom/own", headers={"x-runyard-depth": "10"})).status_code == 500


async def test_an_app_is_opened_once_before_its_first_request(served: Served) -> None:
    await served.serve("app")
    assert (await served.client.get("/custom/pool")).json() == ["a pool", "a pool", ["open"]]


async def test_an_app_notices_when_its_client_leaves_and_so_does_the_server(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served.client.stream("GET", "/custom/endless") as answer:
        await anext(answer.aiter_lines())
    async with served.client.stream("GET", "/endless") as answer:
        await anext(answer.aiter_lines())
    await served.server.has_seen_client_leave.wait()
    # The app's generator is closed in a task of its own, once nothing refers to it: a cycle waits to be collected.
    said = ""
    while "the client has left" not in said:
        gc.collect()
        await asyncio.sleep(0.01)
        said += capsys.readouterr().out


async def test_websockets_reach_the_app_without_headers_of_the_platform(served: Served) -> None:
    headers = {"x-mine": "yes", "x-runyard-user": encoded(USER)}
    async with unix_connect(served.socket_path, "ws://example.com/chat", additional_headers=headers) as socket:
        hello = json.loads(await socket.recv())
        assert (hello["headers"]["x-mine"], hello["user"]) == ("yes", "Ada")
        assert "x-runyard-user" not in hello["headers"]
        await socket.send("hi")
        assert await socket.recv() == "echo: hi"


async def test_an_app_is_described_by_its_routes(served: Served) -> None:
    described = served.description
    assert (described["paths"], described["hasWebSockets"]) == (["/*"], True)
    routes = [(route["method"], route["path"]) for route in described["routes"]]
    assert {("GET", "/items/{item_id}"), ("GET", "/items/")} <= set(routes)
    assert "/chat" not in [path for _, path in routes]
    assert "/docs" not in [path for _, path in routes]
    assert described["openApi"]["paths"]["/items/{item_id}"]["get"]["description"] == "Reads an item."
    await served.serve("plain")
    described = served.description
    assert described["paths"] == ["/files/*", "/hello/{name}", "/refuse"]
    assert {"method": "ALL", "path": "/files/*"} in described["routes"]
    assert {"method": "GET", "path": "/hello/{name}"} in described["routes"]
    assert described["hasWebSockets"] is False
    assert "/hello/{name}" in described["openApi"]["paths"]


@pytest.mark.parametrize(
    ("symbol", "sentence"),
    [
        ("not_an_app", '"not_an_app" is a dict, not a Starlette or FastAPI app.'),
        ("absent", 'routes.py has no "absent"'),
        ("unopened", "ConnectionError: the database is away"),
    ],
)
async def test_an_app_that_cannot_be_served_is_a_load_error(served: Served, symbol: str, sentence: str) -> None:
    for _ in range(2):
        with pytest.raises(RemoteError, match=sentence) as raised:
            await served.serve(symbol)
        assert raised.value.kind == "load"


async def test_an_app_may_be_opened_without_being_served_and_is_closed_with_its_process() -> None:
    source = {"file": str(PROJECTS / "routes.py"), "symbol": "app"}
    loopback = {"socketPath": "/nowhere", "token": ""}
    async with host_process(PROJECTS, loopback=loopback) as parent:
        assert (await parent.request("app.serve", app=source, socketPath=None)).ok["hasWebSockets"] is True
        await parent.request("shutdown")
        assert await parent.process.wait() == 0
        assert ("info", "the pool is closed") in lines(parent)
