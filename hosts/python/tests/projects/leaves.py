"""Calls `sys.exit` wherever the platform asks its code."""

import asyncio
import contextlib
import sys

from langgraph.graph import START, StateGraph
from langgraph_sdk import Auth, Encryption
from starlette.applications import Starlette
from starlette.routing import Route
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    text: str


def leave(*_args, **_kwargs):
    sys.exit(3)


async def leave_later(*_args, **_kwargs):
    await asyncio.sleep(0)
    sys.exit(3)


def compiled(node):
    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile()


fine = compiled(lambda state: {"text": "fine"})


def factory():
    leave()


async def slow_factory():
    await leave_later()


@contextlib.asynccontextmanager
async def leaves_when_closed():
    yield fine
    await leave_later()


async def gives_up():
    raise asyncio.CancelledError


auth, waiting_auth, encryption = Auth(), Auth(), Encryption()
auth.authenticate(lambda: leave())
waiting_auth.authenticate(leave_later)


@waiting_auth.on
async def decide(ctx, value):
    await leave_later()


@encryption.context
async def context(user, ctx):
    await leave_later()


@encryption.encrypt.blob
async def encrypt(ctx, blob):
    await leave_later()


@encryption.decrypt.blob
async def decrypt(ctx, blob):
    await leave_later()


@encryption.encrypt.json
async def encrypt_json(ctx, data):
    await leave_later()


@encryption.decrypt.json
async def decrypt_json(ctx, data):
    await leave_later()


def embed(texts):
    leave()


app = Starlette(routes=[Route("/leave", lambda request: leave()), Route("/later", leave_later)])
