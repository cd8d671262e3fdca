"""The official Python client of MCP against assistants, through the gateway."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

INVALID_PARAMS = -32602
MISSING_CAPABILITY = -32021

#: How the client chooses the revision, and the one that is agreed on.
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
MODES = pytest.mark.parametrize("mode", REVISIONS)


@asynccontextmanager
async def connect(url, api_key, mode, ask=None):
    """With `ask` the client can ask its user."""
    async with httpx2.AsyncClient(headers={"x-api-key": api_key}, timeout=30) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=ask) as client:
            yield client


@MODES
def test_assistants_are_listed_and_called_as_tools(url, api_key, mode):
    async def run():
        async with connect(url, api_key, mode) as client:
            assert client.protocol_version == REVISIONS[mode]
            assert client.server_capabilities.tools
            assert client.server_capabilities.prompts is None
            page = await client.list_tools()
            tools = {tool.name: tool for tool in page.tools}
            while page.next_cursor:
                page = await client.list_tools(cursor=page.next_cursor)
                tools.update((tool.name, tool) for tool in page.tools)
            assert tools["echo"].input_schema["properties"]["messages"]["type"] == "string"
            result = await client.call_tool("echo", {"messages": "hi"})
            assert not result.is_error
            assert [message["content"] for message in result.structured_content["messages"]] == ["hi", "echo: hi"]

    asyncio.run(run())


@MODES
def test_progress_is_reported_while_a_tool_runs(url, api_key, mark, mode):
    async def run():
        seen = []

        async def report(progress, total, message):
            seen.append(progress)

        async with connect(url, api_key, mode) as client:
            arguments = {"name": mark, "steps": 3, "stepMs": 20}
            result = await client.call_tool("slow", arguments, progress_callback=report)
        assert result.structured_content["steps"] == 0
        assert len(seen) > 1
        assert seen == sorted(seen)

    asyncio.run(run())


@MODES
def test_the_question_of_a_tool_is_answered_within_the_call(url, api_key, mode):
    async def run():
        asked = []

        async def ask(context, params):
            asked.append(params.message)
            return ElicitResult(action="accept", content={"answer": "yes"})

        async with connect(url, api_key, mode, ask) as client:
            result = await client.call_tool("approval", {"request": "go"})
        assert asked == ["May I go?"]
        assert result.structured_content["log"] == ["prepared go", "heard yes", "did go"]

    asyncio.run(run())


def test_a_client_that_cannot_ask_its_user_learns_what_it_lacks(url, api_key):
    async def run():
        async with connect(url, api_key, "auto") as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("approval", {"request": "go"})
        assert refused.value.code == MISSING_CAPABILITY
        assert "elicitation" in refused.value.data["requiredCapabilities"]

    asyncio.run(run())


def test_an_older_client_that_cannot_ask_its_user_gets_the_question_as_the_result(url, api_key):
    async def run():
        async with connect(url, api_key, "legacy") as client:
            result = await client.call_tool("approval", {"request": "go"})
        assert not result.is_error
        [question] = result.structured_content["__interrupt__"]
        assert question["value"] == {"question": "May I go?"}

    asyncio.run(run())


@MODES
def test_the_error_of_a_graph_is_a_result_and_an_unknown_tool_an_error(url, api_key, mode):
    async def run():
        async with connect(url, api_key, mode) as client:
            result = await client.call_tool("boom", {})
            assert result.is_error
            assert "KettleError" in result.content[0].text
            assert "hunter2" not in result.content[0].text
            with pytest.raises(MCPError) as refused:
                await client.call_tool("no_such_tool", {})
            assert refused.value.code == INVALID_PARAMS

    asyncio.run(run())
