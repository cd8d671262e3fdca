"""The published client of the OAuth broker, with a real OAuth server as the provider."""

import asyncio
import os
import re
import uuid
from typing import TypedDict
from urllib.parse import urljoin

import httpx
import pytest
from langchain_auth import Client
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

PLATFORM = os.environ["RUNYARD_PLATFORM_URL"]
SERVER = os.environ["RUNYARD_OAUTH_SERVER_URL"]
SECRET = os.environ["RUNYARD_OAUTH_CLIENT_SECRET"]


@pytest.fixture(params=["", "/api-host"])
def auth(request, api_key):
    return Client(api_key=api_key, api_url=PLATFORM + request.param)


@pytest.fixture
def provider(auth):
    """The one whose redirect URI the server knows."""
    settings = dict(auth_url=f"{SERVER}/auth", token_url=f"{SERVER}/token", uses_pkce=True)
    made = asyncio.run(auth.create_oauth_provider("python", "Python", "runyard", SECRET, **settings))
    yield made
    asyncio.run(auth.delete_oauth_provider("python"))


@pytest.fixture
def user():
    return str(uuid.uuid4())


async def visit(url):
    """What a browser does: follows the link of the platform's page, signs in, says yes, and comes back."""
    async with httpx.AsyncClient(follow_redirects=True, timeout=30) as browser:
        start = await browser.get(url)
        link = re.search(r'<a href="([^"]+)"', start.text)
        assert link, start.text
        page = await browser.get(urljoin(url, link[1]))
    assert page.status_code == 200, page.text
    assert "Your account is connected" in page.text


def test_a_person_is_asked_once_and_the_token_is_there_from_then_on(auth, provider, user):
    async def story():
        assert (await auth.check_token_exists("python")).has_token is False
        begun = await auth.authenticate("python", ["repo"], user)
        assert (begun.status, begun.token) == ("pending", None)
        waiting = asyncio.create_task(auth.wait_for_completion(begun.auth_id))
        await visit(begun.url)
        token = (await waiting).token
        assert token
        again = await auth.authenticate("python", ["repo"], user)
        assert (again.status, again.token) == ("completed", token)
        other = await auth.authenticate("python", ["repo"], f"{user}-2")
        assert other.status == "pending"
        assert (await auth.check_token_exists("python")).has_token is True
        assert (await auth.revoke_tokens("python")).provider_id == "python"
        assert (await auth.check_token_exists("python")).has_token is False

    asyncio.run(story())


def test_a_provider_is_read_changed_and_listed_without_its_secret(auth, provider):
    async def story():
        assert provider.uses_pkce is True
        changed = await auth.update_oauth_provider("python", name="Renamed", client_secret=SECRET)
        assert changed.name == "Renamed"
        assert await auth.get_oauth_provider("python") == changed
        listed = await auth.list_oauth_providers()
        assert changed in listed
        assert SECRET not in repr([vars(each) for each in listed])

    asyncio.run(story())


def test_a_wait_that_is_for_nothing_says_so(auth, provider, user):
    async def story():
        begun = await auth.authenticate("python", ["repo"], user)
        with pytest.raises(TimeoutError):
            await auth.wait_for_completion(begun.auth_id, timeout=1)
        with pytest.raises(Exception, match="not found or has expired"):
            await auth.wait_for_completion(str(uuid.uuid4()), timeout=1)

    asyncio.run(story())


def test_a_graph_is_interrupted_for_the_person_and_goes_on_with_the_token(auth, provider, user):
    class State(TypedDict):
        token: str

    async def node(state):
        result = await auth.authenticate("python", ["repo"], user)
        return {"token": result.token}

    async def story():
        graph = StateGraph(State).add_node("ask", node).add_edge(START, "ask").add_edge("ask", END)
        app = graph.compile(checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": user}}
        state = await app.ainvoke({"token": ""}, config)
        [interrupt] = state["__interrupt__"]
        assert interrupt.value["provider"] == "python"
        await visit(interrupt.value["auth_url"])
        assert (await app.ainvoke(Command(resume=True), config))["token"]
        await auth.revoke_tokens("python")

    asyncio.run(story())
