"""Routes of the project beside those of the server, as documentation of FastAPI has them."""

from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, WebSocket
from langgraph_sdk import get_client
from pool import pool


@asynccontextmanager
async def lifespan(app: FastAPI):
    pool["state"] = "open"
    yield
    pool["state"] = "closed"


app = FastAPI(lifespan=lifespan)


@app.middleware("http")
async def mark(request: Request, call_next):
    response = await call_next(request)
    response.headers["x-project"] = "marked"
    return response


@app.get("/drafts/{thread_id}")
async def read_draft(thread_id: str):
    """Reads the draft of a thread."""
    thread = await get_client().threads.get(thread_id)
    return {"draft": thread["values"]["draft"], "pool": pool["state"]}


@app.websocket("/echo")
async def echo(websocket: WebSocket):
    await websocket.accept()
    await websocket.send_text(f"echo: {await websocket.receive_text()}")
