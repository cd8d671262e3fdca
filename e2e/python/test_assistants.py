import pytest
from langgraph_sdk.errors import ConflictError, NotFoundError


def test_an_assistant_is_created_read_changed_and_deleted(client, mark):
    created = client.assistants.create(
        "echo", config={"configurable": {"tone": "kind"}}, metadata={"mark": mark}, name="Kind echo", description="polite"
    )
    assistant_id = created["assistant_id"]
    assert created["version"] == 1
    assert created["context"] == {"tone": "kind"}
    assert client.assistants.get(assistant_id) == created

    changed = client.assistants.update(assistant_id, metadata={"more": 1}, name="Kinder echo")
    assert changed["version"] == 2
    assert changed["metadata"] == {"mark": mark, "more": 1}
    assert [each["version"] for each in client.assistants.get_versions(assistant_id)] == [2, 1]

    back = client.assistants.set_latest(assistant_id, 1)
    assert (back["version"], back["name"]) == (1, "Kind echo")

    client.assistants.delete(assistant_id)
    with pytest.raises(NotFoundError):
        client.assistants.get(assistant_id)


def test_assistants_are_searched_counted_and_paged(client, mark):
    for name in ("b", "a", "c"):
        client.assistants.create("echo", metadata={"mark": mark}, name=f"{name}-{mark}")
    page = client.assistants.search(
        metadata={"mark": mark}, limit=2, sort_by="name", sort_order="asc", select=["name"], response_format="object"
    )
    assert page["assistants"] == [{"name": f"a-{mark}"}, {"name": f"b-{mark}"}]
    assert page["next"] == "2"
    assert client.assistants.count(metadata={"mark": mark}) == 3
    assert client.assistants.count(name=f"A-{mark}".lower()) == 1


def test_an_id_that_is_taken_is_a_conflict_unless_that_is_welcome(client):
    created = client.assistants.create("echo")
    again = {"graph_id": "echo", "assistant_id": created["assistant_id"]}
    with pytest.raises(ConflictError):
        client.assistants.create(**again)
    assert client.assistants.create(**again, if_exists="do_nothing")["created_at"] == created["created_at"]


def test_a_graph_is_drawn_and_its_schemas_told(client):
    [assistant] = client.assistants.search(graph_id="assembly", metadata={"created_by": "system"})
    drawing = client.assistants.get_graph(assistant["assistant_id"])
    assert [node["id"] for node in drawing["nodes"]] == ["__start__", "outer", "__end__"]
    inside = client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert "outer:inner:drill" in [node["id"] for node in inside["nodes"]]
    schemas = client.assistants.get_schemas(assistant["assistant_id"])
    assert schemas["graph_id"] == "assembly"
    assert schemas["state_schema"]["properties"]
    assert list(client.assistants.get_subgraphs(assistant["assistant_id"])) == ["outer"]
