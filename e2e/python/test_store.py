import pytest
from langgraph_sdk.errors import UnprocessableEntityError


def test_an_item_is_kept_found_and_forgotten(client, mark):
    namespace = ["python", mark]
    client.store.put_item(namespace, "a", {"color": "red", "size": 3}, ttl=60)
    client.store.put_item(namespace, "b", {"color": "blue", "size": 5}, index=False)
    assert client.store.get_item(namespace, "a")["value"] == {"color": "red", "size": 3}
    found = client.store.search_items(namespace, filter={"size": {"$gt": 4}})
    assert [item["key"] for item in found["items"]] == ["b"]
    assert client.store.list_namespaces(prefix=["python", mark])["namespaces"] == [namespace]
    client.store.delete_item(namespace, "a")
    assert client.store.get_item(namespace, "a") is None


def test_items_are_ranked_by_meaning(client, mark):
    namespace = ["python", mark]
    client.store.put_item(namespace, "tea", {"text": "green tea"})
    client.store.put_item(namespace, "car", {"text": "fast car"})
    items = client.store.search_items(namespace, query="green tea")["items"]
    assert items[0]["key"] == "tea"
    assert items[0]["score"] > items[1]["score"]


def test_a_label_with_a_period_is_refused(client):
    with pytest.raises((UnprocessableEntityError, ValueError)):
        client.store.put_item(["a.b"], "k", {})
