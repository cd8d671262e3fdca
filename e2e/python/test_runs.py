import asyncio

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.errors import ConflictError, NotFoundError

HI = {"messages": [{"role": "user", "content": "hi"}]}
LONG = {"steps": 600, "stepMs": 50, "name": "long"}


def test_a_run_is_waited_for_with_and_without_a_thread(client, thread_id):
    for where in (thread_id, None):
        values = client.runs.wait(where, "echo", input=HI)
        assert [message["content"] for message in values["messages"]] == ["hi", "echo: hi"]


def test_a_background_run_is_listed_joined_read_and_deleted(client, thread_id, mark):
    run = client.runs.create(thread_id, "echo", input=HI, metadata={"mark": mark})
    assert run["metadata"]["mark"] == mark
    assert client.runs.join(thread_id, run["run_id"])["messages"][-1]["content"] == "echo: hi"
    assert client.runs.get(thread_id, run["run_id"])["status"] == "success"
    assert client.runs.list(thread_id, status="success", select=["run_id"]) == [{"run_id": run["run_id"]}]
    client.runs.delete(thread_id, run["run_id"])
    with pytest.raises(NotFoundError):
        client.runs.get(thread_id, run["run_id"])


def test_a_stream_begins_with_its_run_and_names_its_modes(client, thread_id):
    created = []
    parts = list(
        client.runs.stream(
            thread_id,
            "chat",
            input=HI,
            stream_mode=["values", "updates", "messages", "messages-tuple", "custom", "debug", "tasks", "checkpoints"],
            on_run_created=created.append,
        )
    )
    assert parts[0].event == "metadata"
    assert created[0]["run_id"] == parts[0].data["run_id"]
    assert {"values", "updates", "messages/partial", "messages", "custom", "debug", "tasks", "checkpoints"} <= {
        part.event for part in parts
    }


def test_a_stream_that_was_left_is_joined_where_it_was(client, thread_id):
    run = client.runs.create(thread_id, "chat", input=HI, stream_mode=["messages-tuple"], stream_resumable=True)
    client.runs.join(thread_id, run["run_id"])
    whole = list(client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"))
    assert len(whole) > 3
    middle = whole[len(whole) // 2]
    rest = list(client.runs.join_stream(thread_id, run["run_id"], last_event_id=middle.id))
    assert rest == whole[len(whole) // 2 + 1 :]


def test_subgraphs_are_streamed_under_their_names(client):
    events = [
        part.event
        for part in client.runs.stream(None, "family", input={"text": "x"}, stream_mode="values", stream_subgraphs=True)
    ]
    assert any(event.startswith("values|child:") for event in events)


def test_an_interrupt_is_answered(client, thread_id):
    asked = client.runs.wait(thread_id, "approval", input={"request": "tidy up"})
    assert asked["__interrupt__"][0]["value"] == {"question": "May I tidy up?"}
    assert client.threads.get(thread_id)["status"] == "interrupted"
    done = client.runs.wait(thread_id, "approval", command={"resume": "yes"})
    assert done["log"] == ["prepared tidy up", "heard yes", "did tidy up"]


def test_a_failure_names_its_kind_and_no_secret(client, thread_id):
    values = client.runs.wait(thread_id, "boom", input={"heat": 1}, raise_error=False)
    assert values["__error__"]["error"] == "KettleError"
    assert "hunter2" not in values["__error__"]["message"]


def test_a_run_stops_when_it_is_cancelled(client, thread_id):
    run = client.runs.create(thread_id, "slow", input=LONG)
    client.runs.cancel(thread_id, run["run_id"], wait=True)
    assert client.runs.get(thread_id, run["run_id"])["status"] == "interrupted"
    run = client.runs.create(thread_id, "slow", input=LONG)
    client.runs.cancel_many(thread_id=thread_id, run_ids=[run["run_id"]])
    client.runs.join(thread_id, run["run_id"])
    assert client.runs.get(thread_id, run["run_id"])["status"] == "interrupted"


def test_a_busy_thread_refuses_when_asked_to(client, thread_id):
    client.runs.create(thread_id, "slow", input=LONG)
    with pytest.raises(ConflictError):
        client.runs.create(thread_id, "slow", input=LONG, multitask_strategy="reject")
    client.threads.delete(thread_id)


def test_a_batch_starts_every_run(client):
    runs = client.runs.create_batch([{"assistant_id": "echo", "input": HI} for _ in range(3)])
    assert len({run["run_id"] for run in runs}) == 3


def test_a_missing_thread_is_made_when_asked_to(client, mark):
    values = client.runs.wait(mark, "echo", input=HI, if_not_exists="create")
    assert values["messages"][-1]["content"] == "echo: hi"
    assert client.threads.get(mark)["thread_id"] == mark


def test_the_asynchronous_client_streams_as_well(url, api_key):
    async def contents():
        client = get_client(url=url, api_key=api_key)
        async for part in client.runs.stream(None, "echo", input=HI, stream_mode="values", version="v2"):
            if part["type"] == "values":
                last = part["data"]
        return [message["content"] for message in last["messages"]]

    assert asyncio.run(contents()) == ["hi", "echo: hi"]
