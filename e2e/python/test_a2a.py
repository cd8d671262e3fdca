"""The official Python client of A2A against assistants, through the gateway."""

import asyncio
import uuid

import httpx
import pytest
from a2a.client import ClientConfig, create_client
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskState,
)
from google.protobuf.json_format import MessageToDict, ParseDict


def send_request(text, **fields):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **fields)
    return SendMessageRequest(message=message)


async def connect(url, api_key, assistant, binding, streaming):
    http = httpx.AsyncClient(headers={"x-api-key": api_key}, timeout=30)
    config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], streaming=streaming)
    return await create_client(f"{url}/a2a/{assistant}", config)


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("streaming", [True, False])
def test_a_message_becomes_a_task_with_the_answer(url, api_key, binding, streaming):
    async def run():
        client = await connect(url, api_key, "echo", binding, streaming)
        events = [event async for event in client.send_message(send_request("hi"))]
        task_id = events[0].task.id
        task = await client.get_task(GetTaskRequest(id=task_id))
        assert task.status.state == TaskState.TASK_STATE_COMPLETED
        assert [part.text for part in task.artifacts[0].parts] == ["echo: hi"]
        listed = await client.list_tasks(ListTasksRequest(context_id=task.context_id))
        assert [each.id for each in listed.tasks] == [task_id]
        if streaming:
            assert events[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
        else:
            assert MessageToDict(events[0].task) == MessageToDict(task)

    asyncio.run(run())


def test_the_question_of_a_task_is_answered(url, api_key):
    async def run():
        client = await connect(url, api_key, "approval", "JSONRPC", False)
        data = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"data": {"request": "go"}}]}
        asked = [event async for event in client.send_message(ParseDict({"message": data}, SendMessageRequest()))]
        task = asked[0].task
        assert task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        answer = send_request("yes", task_id=task.id, context_id=task.context_id)
        done = [event async for event in client.send_message(answer)]
        assert done[0].task.id == task.id
        assert done[0].task.status.state == TaskState.TASK_STATE_COMPLETED

    asyncio.run(run())


def test_a_task_that_has_ended_is_not_canceled(url, api_key):
    async def run():
        client = await connect(url, api_key, "echo", "JSONRPC", False)
        events = [event async for event in client.send_message(send_request("hi"))]
        with pytest.raises(Exception, match="cancel"):
            await client.cancel_task(CancelTaskRequest(id=events[0].task.id))

    asyncio.run(run())
