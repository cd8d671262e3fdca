"""Two users of one deployment, whose own code tells them apart."""

import pytest
from langgraph_sdk.errors import AuthenticationError, NotFoundError


@pytest.fixture
def ada(client_of):
    return client_of("ada")


@pytest.fixture
def bob(client_of):
    return client_of("bob")


def test_a_stranger_is_refused_in_the_words_of_the_project(client_of):
    with pytest.raises(AuthenticationError, match="Who are you?"):
        client_of("mallory").threads.create()


def test_a_thread_and_its_runs_are_for_their_user(ada, bob, mark):
    thread_id = ada.threads.create(metadata={"mark": mark, "owner": "bob"})["thread_id"]
    values = ada.runs.wait(thread_id, "echo", input={"messages": [{"role": "user", "content": mark}]})
    assert values["messages"][-1]["content"] == f"echo: {mark}"
    [run] = ada.runs.list(thread_id)
    assert "secret of" not in str(run)
    for attempt in (
        lambda: bob.threads.get(thread_id),
        lambda: bob.threads.get_state(thread_id),
        lambda: bob.threads.update(thread_id, metadata={"owner": "bob"}),
        lambda: bob.threads.delete(thread_id),
        lambda: bob.runs.list(thread_id),
        lambda: bob.runs.create(thread_id, "echo", input={}, if_not_exists="create"),
        lambda: bob.runs.cancel(thread_id, run["run_id"]),
    ):
        with pytest.raises(NotFoundError):
            attempt()
    assert bob.threads.search(metadata={"mark": mark}) == []
    assert [found["thread_id"] for found in ada.threads.search(metadata={"mark": mark})] == [thread_id]


def test_a_stream_is_for_its_user(ada, bob, mark):
    thread_id = ada.threads.create()["thread_id"]
    body = {"messages": [{"role": "user", "content": mark}]}
    events = [part.event for part in ada.runs.stream(thread_id, "echo", input=body, stream_resumable=True)]
    assert events[0] == "metadata" and "values" in events
    [run] = ada.runs.list(thread_id)
    with pytest.raises(NotFoundError):
        list(bob.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"))
    assert mark in str(list(ada.runs.join_stream(thread_id, run["run_id"], last_event_id="-1")))


def test_a_graph_finds_its_user_and_the_store_of_its_user(ada, bob, mark):
    found = ada.runs.wait(None, "whoami", input={"note": mark})
    user, again, user_id, _ = found["users"]
    assert user == again and user["identity"] == user_id == "ada"
    assert user["secret"] == "secret of ada"
    assert mark in found["notes"]
    assert mark not in bob.runs.wait(None, "whoami", input={})["notes"]
    assert ada.store.get_item(["notes"], key=mark)["value"] == {"note": mark}
    assert bob.store.get_item(["notes"], key=mark) is None
    assert mark not in str(bob.store.search_items([]))


def test_a_cron_is_for_its_user(ada, bob, mark):
    cron = ada.crons.create("echo", schedule="@yearly", input={}, metadata={"mark": mark})
    assert [found["cron_id"] for found in ada.crons.search() if found["metadata"].get("mark") == mark]
    assert mark not in str(bob.crons.search())
    with pytest.raises(NotFoundError):
        bob.crons.delete(cron["cron_id"])
    ada.crons.delete(cron["cron_id"])
