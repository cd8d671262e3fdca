"""Runs of a project, as the parent sees them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fake_parent import FakeParent, needs_event_protocol, started_host

PROJECTS = Path(__file__).parent / "projects"

NAMES = """outer steps asks asking_inside exiting exiting_later fans jumps talks talks_inside functional waits
    remembers invokes unstorable plain hoards"""


@pytest.fixture
async def parent() -> Any:
    async with started_host(PROJECTS, **{name: f"runs.py:{name}" for name in NAMES.split()}) as parent:
        yield parent


async def test_a_plain_function_and_a_coroutine_and_a_subgraph_run(parent: FakeParent) -> None:
    settled = await parent.run("outer", input={"log": []})
    assert settled.values == {"log": ["before", "before", "first", "slow"]}
    assert settled.header["next"] == []


async def test_subgraphs_stream_under_their_namespace(parent: FakeParent) -> None:
    settled = await parent.run("outer", input={"log": []}, streamModes=["updates"], streamSubgraphs=True)
    events = [event.split(":")[0] for _, event, _ in settled.events]
    assert events == ["updates", "updates|child", "updates|child", "updates"]


async def test_sends_run_side_by_side(parent: FakeParent) -> None:
    assert sorted((await parent.run("fans", input={"log": []})).values["log"]) == ["0", "1", "2"]


async def test_commands_of_nodes_and_of_clients_go_where_they_say(parent: FakeParent) -> None:
    assert (await parent.run("jumps", input={"log": []})).values == {"log": ["start", "end"]}
    thread_id = "3b0b0cf4-8bd8-4a5f-9a5c-3c4b9f1a0001"
    await parent.run("jumps", threadId=thread_id, input={"log": []})
    again = await parent.run("jumps", threadId=thread_id, command={"goto": "end", "update": {"log": ["mine"]}})
    assert again.values == {"log": ["start", "end", "mine", "end"]}


async def test_a_functional_graph_has_a_bare_value_and_remembers_it(parent: FakeParent) -> None:
    thread_id = "3b0b0cf4-8bd8-4a5f-9a5c-3c4b9f1a0002"
    assert (await parent.run("functional", threadId=thread_id, input=[1, 2])).values == 6
    assert (await parent.run("functional", threadId=thread_id, input=[1])).values == 8


@pytest.mark.parametrize("answer", ["yes", False, 0, ""])
async def test_each_answer_reaches_its_question_whatever_it_is(parent: FakeParent, answer: Any) -> None:
    asked = await parent.run("asks", input={"text": ""})
    thread_id = parent.puts[-1]["key"]["threadId"]
    assert asked.values["__interrupt__"][0]["value"] == "one?"
    assert asked.header["next"] == ["ask"]
    [interrupt] = next(iter(asked.interrupts.values()))
    assert interrupt == {"id": asked.values["__interrupt__"][0]["id"], "value": "one?"}
    second = await parent.run("asks", threadId=thread_id, command={"resume": answer})
    assert second.values["__interrupt__"][0]["value"] == "two?"
    done = await parent.run("asks", threadId=thread_id, command={"resume": "last"})
    assert done.values == {"text": f"{answer} last", "log": []}


async def test_an_answer_to_a_subgraph_does_not_reach_its_next_question(parent: FakeParent) -> None:
    asked = await parent.run("asking_inside", input={"text": ""})
    thread_id = parent.puts[-1]["key"]["threadId"]
    assert asked.values["__interrupt__"][0]["value"] == "inside?"
    second = await parent.run("asking_inside", threadId=thread_id, command={"resume": "a"})
    assert second.values["__interrupt__"][0]["value"] == "later?"
    done = await parent.run("asking_inside", threadId=thread_id, command={"resume": "b"})
    assert done.header.get("error") is None
    assert done.values == {"text": "a", "log": ["b"]}


async def test_a_breakpoint_stops_before_its_node(parent: FakeParent) -> None:
    stopped = await parent.run("steps", input={"log": []}, interruptBefore=["step2"], streamModes=["values", "updates"])
    thread_id = parent.puts[-1]["key"]["threadId"]
    assert (stopped.values, stopped.header["next"]) == ({"log": [1, 1]}, ["step2"])
    assert stopped.of_mode("updates")[-1] == {"__interrupt__": []}
    assert (await parent.run("steps", threadId=thread_id)).values == {"log": [1] * 8}


async def test_messages_stream_as_the_python_server_names_them(parent: FakeParent) -> None:
    given = {"messages": [{"role": "user", "content": "hi"}]}
    settled = await parent.run("talks_inside", input=given, streamModes=["messages", "custom"], streamSubgraphs=True)
    names = [event.split(":")[0] for _, event, _ in settled.events]
    assert names == ["custom|child", "messages/metadata", "messages/partial", "messages/partial", "messages/partial"]
    assert [data[0]["content"] for data in settled.of_mode("messages")[1:]] == ["Hello", "Hello ", "Hello there"]
    assert settled.of_mode("messages")[1][0]["type"] == "ai"


async def test_messages_tuple_streams_each_chunk_with_its_metadata(parent: FakeParent) -> None:
    given = {"messages": [{"role": "user", "content": "hi"}]}
    settled = await parent.run("talks", input=given, streamModes=["messages-tuple"])
    chunks = settled.of_mode("messages-tuple")
    assert {event for _, event, _ in settled.events} == {"messages"}
    assert [chunk["content"] for chunk, _ in chunks] == ["Hello", " ", "there"]
    assert [chunk["type"] for chunk, _ in chunks] == ["AIMessageChunk"] * 3
    assert chunks[0][1]["langgraph_node"] == "say"


async def test_events_of_runnables_stream_beside_the_other_modes(parent: FakeParent) -> None:
    given = {"messages": [{"role": "user", "content": "hi"}]}
    settled = await parent.run("talks", input=given, streamModes=["events", "values"])
    kinds = {event["event"] for event in settled.of_mode("events")}
    assert {"on_chain_start", "on_chat_model_stream", "on_chain_end"} <= kinds
    assert settled.of_mode("values")[-1]["messages"][-1]["content"] == "Hello there"


async def test_tasks_and_checkpoints_and_debug_stream_what_clients_know(parent: FakeParent) -> None:
    modes = ["tasks", "checkpoints", "debug"]
    settled = await parent.run("outer", input={"log": []}, streamModes=modes)
    begun, ended = settled.of_mode("tasks")[:2]
    assert begun.keys() >= {"id", "name", "input", "triggers"}
    assert (ended["name"], ended["error"], ended["interrupts"]) == ("before", None, [])
    checkpoint = settled.of_mode("checkpoints")[-1]
    assert not [key for key in checkpoint["config"]["configurable"] if key.startswith("__")]
    assert checkpoint["next"] == []
    assert {event["type"] for event in settled.of_mode("debug")} == {"checkpoint", "task", "task_result"}


@needs_event_protocol
async def test_protocol_events_name_blocks_tasks_and_the_life_of_subgraphs(parent: FakeParent) -> None:
    given = {"messages": [{"role": "user", "content": "hi"}]}
    settled = await parent.run("talks_inside", input=given, emitsProtocolEvents=True)
    names = [(mode, event.split(":")[0]) for mode, event, _ in settled.events]
    assert ("v2.messages", "messages|child") in names
    assert ("v2.custom", "custom|child") in names
    lifecycle = [
        (event.split(":")[0], data["data"]["event"]) for mode, event, data in settled.events if mode == "v2.lifecycle"
    ]
    assert lifecycle == [("lifecycle|child", "started"), ("lifecycle|child", "completed")]
    deltas = [data["data"]["delta"]["text"] for data in settled.of_mode("v2.messages") if "delta" in data["data"]]
    assert "".join(deltas) == "Hello there"
    assert settled.values["messages"][-1]["content"][0]["text"] == "Hello there"


@needs_event_protocol
async def test_protocol_events_request_an_input_once(parent: FakeParent) -> None:
    settled = await parent.run("asking_inside", input={"text": ""}, emitsProtocolEvents=True)
    assert [data["data"]["payload"] for data in settled.of_mode("v2.input")] == ["inside?"]
    assert settled.header["next"] == ["child"]


@pytest.mark.parametrize("durability", ["async", "sync"])
async def test_no_event_passes_the_put_of_its_checkpoint(parent: FakeParent, durability: str) -> None:
    modes = ["values", "checkpoints", "tasks"]
    request = {"input": {"log": []}, "streamModes": modes, "streamSubgraphs": True, "durability": durability}
    graphs = [parent.start("outer", **request) for _ in range(10)]
    for use in graphs:
        await parent.finish(use)
    known: set[str] = set()
    told = 0
    for header, raw in parent.received:
        if header["t"] == "checkpoint.put":
            known.add(header["put"]["key"]["checkpointId"])
        elif header["t"] == "run.events":
            position = 0
            for mode, _, length in header["events"]:
                data = json.loads(raw[position : position + length])
                position += length
                if mode == "checkpoints":
                    assert data["config"]["configurable"]["checkpoint_id"] in known
                    told += 1
    assert told > 50


async def test_with_durability_exit_the_state_is_put_once(parent: FakeParent) -> None:
    settled = await parent.run("steps", input={"log": []}, durability="exit")
    assert (settled.values, len(parent.puts)) == ({"log": [1] * 8}, 1)


async def test_a_run_is_a_few_checkpoints_ahead_of_storage_and_not_more(parent: FakeParent) -> None:
    parent.answers_puts.clear()
    use = parent.start("steps", input={"log": []})
    await parent.until(lambda: len(parent.puts) >= 5)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(parent.puts) <= 6
    parent.answers_puts.set()
    assert (await parent.finish(use)).values == {"log": [1] * 8}


async def test_puts_say_how_far_the_stream_was(parent: FakeParent) -> None:
    use = parent.start("steps", input={"log": []}, attempt=3, streamModes=["values"])
    settled = await parent.finish(use)
    positions = [
        int.from_bytes(raw[-8:], "big")
        for header, raw in parent.received
        if header["t"] == "checkpoint.put" and header["use"] == use
    ]
    assert positions == sorted(positions)
    assert positions[-1] == 3 * 2**32 + len(settled.events)


async def test_a_run_that_is_aborted_says_what_it_had_come_to(parent: FakeParent) -> None:
    use = parent.start("waits", input={"text": "a"})
    await parent.until(lambda: parent.events_of(use))
    parent.connection.send(use, {"t": "run.abort", "use": use, "reason": "a client asked for it"})
    settled = await parent.finish(use)
    assert (settled.kind, settled.values) == ("aborted", {"text": "a", "log": []})


async def test_a_run_that_is_drained_stops_at_a_step_and_goes_on_in_a_later_attempt(parent: FakeParent) -> None:
    parent.answers_puts.clear()
    request = {"runId": "3b0b0cf4-8bd8-4a5f-9a5c-3c4b9f1a0003", "threadId": "3b0b0cf4-8bd8-4a5f-9a5c-3c4b9f1a0004"}
    use = parent.start("steps", input={"log": []}, **request)
    await parent.until(lambda: len(parent.puts) >= 3)
    parent.connection.send(use, {"t": "run.drain", "use": use})
    parent.answers_puts.set()
    assert (await parent.finish(use)).kind == "drained"
    again = await parent.run("steps", input={"log": []}, attempt=2, **request)
    assert (again.kind, again.values) == ("done", {"log": [1] * 8})


async def test_the_store_is_there_for_coroutines_and_for_plain_functions(parent: FakeParent) -> None:
    settled = await parent.run("remembers", input={"text": "x", "log": []})
    assert settled.values == {"text": "plain", "log": ["x", [["a", "b"]]]}


async def test_a_plain_function_may_invoke_a_graph(parent: FakeParent) -> None:
    settled = await parent.run("invokes", input={"log": []})
    assert settled.values == {"log": ["plain"]}


async def test_a_value_that_cannot_be_stored_names_its_channel(parent: FakeParent) -> None:
    settled = await parent.run("unstorable", input={"text": ""})
    assert settled.kind == "failed"
    assert 'A value of channel "text" cannot be stored' in settled.header["error"]["message"]


@pytest.mark.parametrize("has_checkpoints", [True, False])
async def test_a_state_that_no_message_can_hold_fails_its_run_alone(
    parent: FakeParent, monkeypatch: pytest.MonkeyPatch, has_checkpoints: bool
) -> None:
    monkeypatch.setattr("runyard_graph_host.protocol.frames._MAX_MESSAGE_BYTES", 2**20)
    settled = await parent.run("hoards", input={}, streamModes=[], has_checkpoints=has_checkpoints)
    assert settled.kind == "failed"
    assert "exceeds 1048576" in settled.header["error"]["message"]
    assert (await parent.run("plain", input={}, has_checkpoints=has_checkpoints)).values == {"log": ["plain"]}


async def test_state_is_read_listed_and_written(parent: FakeParent) -> None:
    await parent.run("outer", input={"log": []})
    thread_id = parent.puts[-1]["key"]["threadId"]

    async def ask(kind: str, use: int, **more: Any) -> list[dict[str, Any]]:
        answer = await parent.request(kind, use, request={"graphId": "outer", "threadId": thread_id, **more})
        position, states = 0, []
        for document in answer.ok if isinstance(answer.ok, list) else answer.ok["states"]:
            end = position + document["state"][1]
            state = json.loads(bytes(answer.raw[position:end]))
            state["values"] = json.loads(bytes(answer.raw)[end : end + document["values"][1]])
            position = end + document["values"][1]
            states.append(state)
        return states

    [state] = await ask("state.get", 901)
    assert state["values"] == {"log": ["before", "before", "first", "slow"]}
    assert (state["next"], state["metadata"]["source"]) == ([], "loop")
    history = await ask("state.history", 902, limit=10)
    steps = [one["metadata"]["step"] for one in history]
    assert steps == sorted(steps, reverse=True)
    await ask("state.update", 903, values={"log": ["mine"]}, asNode="child")
    [updated] = await ask("state.get", 904)
    assert updated["values"]["log"][-1] == "mine"
    with pytest.raises(Exception, match="does not exist") as refused:
        await ask("state.update", 905, values={}, asNode="nobody")
    assert refused.value.kind == "bad_request"  # type: ignore[attr-defined] # It is a RemoteError.


async def test_graphs_are_described(parent: FakeParent) -> None:
    request = {"graphId": "outer", "config": {"configurable": {}}}
    drawing = (await parent.request("graph.draw", request={**request, "xray": False})).ok
    assert [node["id"] for node in drawing["nodes"]] == ["__start__", "before", "child", "__end__"]
    assert (await parent.request("graph.input_keys", request=request)).ok == ["text", "log"]
    schemas = (await parent.request("graph.schemas", request={**request, "sourceTimeoutMs": 1})).ok
    assert schemas["input_schema"]["properties"].keys() == {"text", "log"}
    assert schemas["state_schema"]["properties"].keys() == {"text", "log"}
    assert (schemas["config_schema"], schemas["context_schema"]) == ({}, None)
    inner = (await parent.request("graph.subgraphs", request={**request, "recurse": True, "sourceTimeoutMs": 1})).ok
    assert list(inner) == ["child"]
