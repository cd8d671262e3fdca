import pytest
from langgraph.pregel.remote import RemoteGraph

HI = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def graph(url, api_key):
    return RemoteGraph("echo", url=url, api_key=api_key)


def test_a_remote_graph_is_invoked_and_streamed(graph, thread_id):
    config = {"configurable": {"thread_id": thread_id}}
    assert graph.invoke(HI, config)["messages"][-1]["content"] == "echo: hi"
    updates = list(graph.stream(HI, config, stream_mode="updates"))
    assert list(updates[-1]) == ["echo"]
    assert len(graph.get_state(config).values["messages"]) == 4
    assert len(list(graph.get_state_history(config, limit=20))) > 2


def test_a_remote_graph_is_drawn(graph):
    assert "echo" in graph.get_graph().nodes
