import pytest
from langgraph_sdk.errors import ConflictError, NotFoundError


def said(state):
    return [message["content"] for message in state["values"]["messages"]]


def ask(client, thread_id, text):
    return client.runs.wait(thread_id, "echo", input={"messages": [{"role": "user", "content": text}]})


def test_a_thread_lives_from_creation_to_deletion(client, mark):
    thread = client.threads.create(metadata={"mark": mark}, graph_id="echo", ttl=60)
    thread_id = thread["thread_id"]
    assert (thread["status"], thread["values"], thread["metadata"]["graph_id"]) == ("idle", None, "echo")
    ttl = client.threads.get(thread_id, include=["ttl"])["ttl"]
    assert (ttl["strategy"], ttl["ttl_minutes"]) == ("delete", 60)
    updated = client.threads.update(thread_id, metadata={"more": True}, ttl={"strategy": "keep_latest", "ttl": 5})
    assert updated["metadata"]["more"] is True
    assert client.threads.get(thread_id, include=["ttl"])["ttl"]["strategy"] == "keep_latest"
    assert client.threads.update(thread_id, metadata={"again": 1}, return_minimal=True) is None
    client.threads.delete(thread_id)
    with pytest.raises(NotFoundError):
        client.threads.get(thread_id)


def test_an_id_that_is_taken_is_a_conflict_unless_that_is_welcome(client, thread_id):
    with pytest.raises(ConflictError):
        client.threads.create(thread_id=thread_id)
    assert client.threads.create(thread_id=thread_id, if_exists="do_nothing")["thread_id"] == thread_id


def test_supersteps_make_the_first_state(client):
    thread = client.threads.create(
        graph_id="echo",
        supersteps=[
            {"updates": [{"values": {}, "as_node": "__input__"}]},
            {"updates": [{"values": {"messages": [{"role": "user", "content": "hi"}]}, "as_node": "__start__"}]},
            {"updates": [{"values": {"messages": [{"role": "ai", "content": "echo: hi"}]}, "as_node": "echo"}]},
        ],
    )
    assert said(client.threads.get_state(thread["thread_id"])) == ["hi", "echo: hi"]


def test_threads_are_searched_by_what_they_are_and_what_they_hold(client, mark):
    thread = client.threads.create(metadata={"mark": mark})
    other = client.threads.create(metadata={"mark": mark})
    ask(client, thread["thread_id"], mark)
    found = client.threads.search(metadata={"mark": mark}, sort_by="created_at", sort_order="asc", select=["thread_id"])
    assert found == [{"thread_id": thread["thread_id"]}, {"thread_id": other["thread_id"]}]
    assert len(client.threads.search(metadata={"mark": mark}, limit=1, offset=1)) == 1
    assert client.threads.count(metadata={"mark": mark}, status="idle") == 2
    [extracted] = client.threads.search(
        ids=[thread["thread_id"]], extract={"last": "values.messages[-1].content"}, select=["thread_id"]
    )
    assert extracted["extracted"] == {"last": f"echo: {mark}"}


def test_state_is_read_written_and_forked(client, thread_id):
    ask(client, thread_id, "one")
    first = client.threads.get_state(thread_id)
    ask(client, thread_id, "two")
    history = client.threads.get_history(thread_id, limit=20)
    assert said(history[0]) == ["one", "echo: one", "two", "echo: two"]
    assert said(client.threads.get_state(thread_id, checkpoint=first["checkpoint"])) == ["one", "echo: one"]
    assert said(client.threads.get_state(thread_id, checkpoint_id=first["checkpoint"]["checkpoint_id"])) == said(first)
    older = client.threads.get_history(thread_id, limit=20, before=first["checkpoint"])
    assert said(older[0]) == ["one"]
    client.threads.update_state(
        thread_id,
        {"messages": [{"role": "ai", "content": "forked"}]},
        as_node="echo",
        checkpoint_id=first["checkpoint"]["checkpoint_id"],
    )
    assert said(client.threads.get_state(thread_id)) == ["one", "echo: one", "forked"]


def test_a_copy_has_the_whole_history_and_a_life_of_its_own(client, thread_id):
    ask(client, thread_id, "one")
    copy = client.threads.copy(thread_id)["thread_id"]
    assert len(client.threads.get_history(copy, limit=20)) == len(client.threads.get_history(thread_id, limit=20))
    ask(client, copy, "two")
    assert len(said(client.threads.get_state(copy))) == 4
    assert len(said(client.threads.get_state(thread_id))) == 2


def test_pruning_keeps_the_latest_state_or_nothing(client, thread_id):
    ask(client, thread_id, "one")
    assert client.threads.prune([thread_id], strategy="keep_latest") == {"pruned_count": 1}
    assert len(client.threads.get_history(thread_id, limit=20)) == 1
    assert said(client.threads.get_state(thread_id)) == ["one", "echo: one"]
    assert client.threads.prune([thread_id]) == {"pruned_count": 1}
    with pytest.raises(NotFoundError):
        client.threads.get(thread_id)


def test_the_stream_of_a_thread_follows_its_runs(client, thread_id):
    run = client.runs.create(
        thread_id,
        "echo",
        input={"messages": [{"role": "user", "content": "hi"}]},
        stream_resumable=True,
        stream_mode=["updates"],
    )
    client.runs.join(thread_id, run["run_id"])
    seen = []
    for part in client.threads.join_stream(thread_id, last_event_id="-"):
        seen.append(part)
        if part.event == "metadata" and part.data.get("status") == "run_done":
            break
    assert [part.event for part in seen][-2:] == ["updates", "metadata"]
    assert all(part.id for part in seen)
