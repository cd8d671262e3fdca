"""Apps of projects, and what is none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request, WebSocket
from fastapi.responses import StreamingResponse
from langgraph_sdk import get_client
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

opened: list[str] = []


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    opened.append("open")
    app.state.pool = "a pool"
    yield {"pool": "a pool"}
    print("the pool is closed")


app = FastAPI(lifespan=lifespan)
items = APIRouter(prefix="/items")


@items.get("/")
async def list_items() -> list[str]:
    return ["ink"]


@items.get("/{item_id}")
def read_item(item_id: int) -> dict[str, int]:
    """Reads an item."""
    return {"item": item_id}


app.include_router(items)


@app.middleware("http")
async def mark(request: Request, call_next: Any) -> Any:
    if request.query_params.get("answer") == "middleware":
        return JSONResponse({"by": "middleware"})
    response = await call_next(request)
    response.headers["x-middleware"] = "seen"
    return response


@app.get("/threads/shadowed")
async def shadowed() -> dict[str, bool]:
    return {"shadowed": True}


@app.get("/custom/headers")
async def headers(request: Request) -> dict[str, str]:
    return dict(request.headers)


@app.get("/custom/user")
async def user(request: Request) -> dict[str, Any]:
    caller, credentials = request.user, request.auth
    return {
        "identity": caller.identity if caller.is_authenticated else None,
        "team": caller["team"] if caller.is_authenticated else None,
        "scopes": credentials.scopes,
        "client": request.client.host if request.client else None,
    }


@app.get("/custom/pool")
async def pool(request: Request) -> list[Any]:
    return [request.app.state.pool, request.state.pool, opened]


@app.get("/custom/error")
async def error() -> None:
    raise RuntimeError("secret detail")


@app.get("/custom/refused")
async def refused() -> None:
    raise HTTPException(418, "no tea", {"x-why": "kettle"})


class OutOfInkError(Exception):
    pass


@app.exception_handler(OutOfInkError)
async def answer_out_of_ink(request: Request, error: OutOfInkError) -> JSONResponse:
    return JSONResponse({"ink": False}, 507)


@app.get("/custom/ink")
async def ink() -> None:
    raise OutOfInkError


@app.get("/custom/own")
async def own() -> dict[str, Any]:
    return await get_client().threads.create(metadata={"a": 1})


@app.post("/custom/size")
async def size(request: Request) -> dict[str, int]:
    return {"size": len(await request.body())}


@app.get("/custom/endless")
async def endless(request: Request) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        try:
            while True:
                yield "line\n"
                await asyncio.sleep(0.01)
        finally:
            print("the client has left")

    return StreamingResponse(lines())


@app.websocket("/chat")
async def chat(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_json({"headers": dict(websocket.headers), "user": websocket.user.display_name})
    while True:
        await websocket.send_text(f"echo: {await websocket.receive_text()}")


async def hello(request: Any) -> PlainTextResponse:
    """Greets.
    ---
    responses:
      200:
        description: A greeting.
    """
    return PlainTextResponse(f"hello {request.path_params['name']}")


async def refuse(request: Any) -> PlainTextResponse:
    from starlette.exceptions import HTTPException as StarletteException

    raise StarletteException(403, "not today")


class Rewrite:
    """Changes the body of requests, which then has another length."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def changed() -> Any:
            message = await receive()
            return {**message, "body": message["body"].replace(b"ink", b"blue ink")} if message.get("body") else message

        return await self._app(scope, changed, send)


plain = Starlette(
    routes=[
        Route("/hello/{name}", hello, methods=["GET"]),
        Route("/refuse", refuse),
        Mount("/files", StaticFiles(directory=".")),
    ]
)
rewriting = Starlette()
rewriting.add_middleware(BaseHTTPMiddleware, dispatch=lambda request, call_next: call_next(request))
rewriting.add_middleware(Rewrite)


@asynccontextmanager
async def failing_lifespan(app: Any) -> AsyncIterator[None]:
    raise ConnectionError("the database is away")
    yield


unopened = Starlette(lifespan=failing_lifespan)
not_an_app = {"routes": []}
