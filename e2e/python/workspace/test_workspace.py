"""Agents in the shapes of public Python projects, of one workspace with users of its own."""

import pytest
from langgraph_sdk.errors import AuthenticationError, NotFoundError, PermissionDeniedError


@pytest.fixture
def ada(client_of):
    return client_of("ada-token")


@pytest.fixture
def bob(client_of):
    return client_of("bob-token")


@pytest.fixture
def thread_id(ada):
    return ada.threads.create()["thread_id"]


def said(text):
    return {"messages": [{"role": "user", "content": text}]}


def test_an_agent_with_tools_asks_before_it_sends_and_sends_what_a_person_makes_of_it(ada, thread_id):
    asked = ada.runs.wait(thread_id, "react", input=said("six times seven"))
    [question] = asked["__interrupt__"]
    assert question["value"]["action_requests"][0]["args"] == {"to": "ada", "text": "It is 42"}
    edited = {"name": "send_mail", "args": {"to": "bob", "text": "42!"}}
    answer = {"decisions": [{"type": "edit", "edited_action": edited}]}
    values = ada.runs.wait(thread_id, "react", command={"resume": answer})
    assert values["messages"][-1]["content"].endswith("sent to bob: 42!")


def test_documents_that_were_retrieved_are_in_the_state(ada, thread_id):
    values = ada.runs.wait(thread_id, "retrieval", input=said("How is coffee made?"))
    assert values["messages"][-1]["content"].strip() == "According to coffee.md"
    [document] = ada.threads.get_state(thread_id)["values"]["documents"]
    assert document["metadata"] == {"source": "coffee.md"}


def test_memories_are_found_by_meaning_over_threads_and_are_for_their_user(ada, bob, mark):
    for text in (f"remember tea {mark}", f"remember rain {mark}"):
        ada.runs.wait(None, "memory", input=said(text))
    found = ada.runs.wait(None, "memory", input=said("what about rain?"), context={"found_max": 1})
    assert found["messages"][-1]["content"] == f"rain {mark}"
    assert mark not in str(bob.runs.wait(None, "memory", input=said("what about rain?")))
    items = ada.store.search_items(("ada", "memories"), query="tea", limit=1)["items"]
    assert items[0]["value"]["text"].startswith("tea")
    with pytest.raises(PermissionDeniedError, match="Not authorized"):
        bob.store.search_items(("ada", "memories"))


def test_a_deep_agent_plans_asks_the_agent_below_it_and_writes_a_file(ada, thread_id):
    values = ada.runs.wait(thread_id, "research", input=said("rain"))
    assert values["files"]["/report.md"]["content"] == "Found all about rain"
    assert values["todos"] == [{"content": "look it up", "status": "in_progress"}]
    history = ada.threads.get_history(thread_id, limit=100)
    assert [state["next"] for state in history][0] == []


@pytest.mark.parametrize("graph", ["supervisor", "swarm"])
def test_who_works_next_in_a_team_is_kept_in_its_thread(ada, thread_id, graph):
    values = ada.runs.wait(thread_id, graph, input=said("bring me to a person"))
    names = [message["name"] for message in values["messages"] if message["type"] == "ai"]
    assert names[0] in ("supervisor", "host")
    if graph == "swarm":
        assert ada.threads.get_state(thread_id)["values"]["active_agent"] == "clerk"
        again = ada.runs.wait(thread_id, graph, input=said("and now?"))
        assert again["messages"][-1]["content"].strip() == "The clerk heard: and now?"
    else:
        assert "The sum is 42." in [message["content"].strip() for message in values["messages"]]


def test_a_workflow_keeps_for_its_next_run_what_a_person_liked(ada, thread_id):
    for number, topic in enumerate(("cats", "dogs"), 1):
        assert "Is it good?" in str(ada.runs.wait(thread_id, "essay", input=topic))
        assert ada.runs.wait(thread_id, "essay", command={"resume": True}) == {
            "essay": f"An essay about {topic}",
            "kept": number,
        }


def test_strangers_get_the_words_of_the_project_and_users_what_is_theirs(client_of, ada, bob, thread_id):
    with pytest.raises(AuthenticationError, match="Invalid token"):
        client_of("mallory-token").threads.create()
    with pytest.raises(NotFoundError):
        bob.threads.get(thread_id)
    assert ada.threads.get(thread_id)["metadata"]["owner"] == "ada"
    with pytest.raises(PermissionDeniedError, match="made by their authors"):
        bob.assistants.create("react")
