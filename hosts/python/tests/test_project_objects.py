"""What the parent asks of a project's Auth, Encryption and embeddings."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from fake_parent import FakeParent, started_host
from runyard_graph_host.protocol.errors import RemoteError

PROJECTS = Path(__file__).parent / "projects"
USER = {"identity": "ada", "display_name": "ada", "is_authenticated": True, "permissions": [], "team": "x"}


@pytest.fixture
async def parent() -> Any:
    async with started_host(PROJECTS) as parent:
        yield parent


def source(symbol: str) -> dict[str, str]:
    return {"file": str(PROJECTS / "guards.py"), "symbol": symbol}


async def authenticate(parent: FakeParent, symbol: str = "auth", /, **headers: str) -> Any:
    request = {"method": "GET", "url": "http://127.0.0.1/threads?a=1", "headers": list(headers.items())}
    return (await parent.request("auth.authenticate", source=source(symbol), request=request)).ok


async def authorize(parent: FakeParent, resource: str, action: str, value: Any, user: Any = USER) -> Any:
    request = {"resource": resource, "action": action, "user": user}
    raw = json.dumps(value).encode()
    answer = await parent.request("auth.authorize", raw=raw, source=source("auth"), request=request)
    return answer.ok, json.loads(bytes(answer.raw)) if answer.raw else None


async def test_the_events_that_have_a_handler_are_named(parent: FakeParent) -> None:
    events = (await parent.request("auth.load", source=source("auth"))).ok["events"]
    assert sorted(events) == ["*", "store", "threads", "threads:create"]


async def test_a_handler_gets_what_its_parameters_name_and_its_user_keeps_its_fields(parent: FakeParent) -> None:
    answer = await authenticate(parent, authorization="Bearer ada", **{"x-team": "blue"})
    user = {"identity": "ada", "display_name": "ada", "is_authenticated": True, "permissions": ["read"], "team": "blue"}
    assert answer == {"kind": "user", "user": user}


async def test_a_refusal_has_status_detail_and_headers(parent: FakeParent) -> None:
    refusal = {"status": 401, "detail": "no key", "headers": {"x-why": "none"}}
    assert await authenticate(parent) == {"kind": "refused", "refusal": refusal}


async def test_dependencies_of_fastapi_are_solved_and_closed_after_the_handler(parent: FakeParent) -> None:
    for directory in (["open"], ["open", "closed", "open"]):
        user = (await authenticate(parent, "depending", **{"x-token": "token-1"}))["user"]
        wanted = {"identity": "ada", "team": "x", "method": "GET", "directory": directory}
        assert {name: user[name] for name in wanted} == wanted
    refused = await authenticate(parent, "depending", **{"x-token": "other"})
    assert refused["refusal"] == {"status": 403, "detail": "nobody has this token", "headers": {}}
    missing = (await authenticate(parent, "depending"))["refusal"]
    assert (missing["status"], missing["detail"]) == (422, "header.x-token: Field required")


async def test_any_other_error_of_a_handler_is_an_error(parent: FakeParent) -> None:
    with pytest.raises(RemoteError, match="the key server is away") as raised:
        await authenticate(parent, authorization="broken")
    assert (raised.value.kind, raised.value.error) == ("failed", "ValueError")


async def test_the_most_specific_handler_decides(parent: FakeParent) -> None:
    value = {"thread_id": "3b0b0cf4-8bd8-4a5f-9a5c-3c4b9f1a0001"}
    answer, changed = await authorize(parent, "threads", "create", value)
    assert answer == {"kind": "allowed", "filter": {"owner": "ada"}}
    assert changed == {**value, "metadata": {"id_is": "UUID"}}
    assert (await authorize(parent, "threads", "read", value))[0]["filter"] == {"owner": "ada"}
    assert (await authorize(parent, "assistants", "read", {}))[0] == {"kind": "denied"}


async def test_a_handler_compares_the_namespace_of_a_store_as_the_tuple_that_it_is(parent: FakeParent) -> None:
    for namespace, left in ((["ada", "notes"], ["ada", "notes"]), (None, ["ada"])):
        answer = await authorize(parent, "store", "list_namespaces", {"namespace": namespace})
        assert answer == ({"kind": "allowed", "filter": None}, {"namespace": left})
    refused, _ = await authorize(parent, "store", "put", {"namespace": ["bob"], "key": "k", "value": {}})
    assert refused["refusal"]["detail"] == "the namespace of another"


async def test_a_failed_assertion_refuses_with_its_text(parent: FakeParent) -> None:
    answer, _ = await authorize(parent, "threads", "create", {"thread_id": "x"}, {**USER, "team": "none"})
    assert answer["refusal"] == {"status": 403, "detail": "teams alone", "headers": {}}


@pytest.mark.parametrize(
    ("symbol", "sentence"),
    [
        ("no_auth", "is not an Auth object of langgraph_sdk"),
        ("unknown_parameter", 'needs "token", which is no parameter a handler can have'),
        ("absent", 'guards.py has no "absent"'),
    ],
)
async def test_an_unusable_auth_object_is_a_load_error(parent: FakeParent, symbol: str, sentence: str) -> None:
    with pytest.raises(RemoteError, match=sentence) as raised:
        await parent.request("auth.load", source=source(symbol))
    assert raised.value.kind == "load"


async def test_keys_and_json_are_encrypted_in_their_context(parent: FakeParent) -> None:
    of = source("encryption")
    assert (await parent.request("encryption.load", source=of)).ok == {"hasJson": True, "hasContext": True}
    request = {"user": USER, "method": "GET", "url": "http://127.0.0.1/", "headers": []}
    metadata = (await parent.request("encryption.context", source=of, request=request)).ok
    assert metadata == {"of": "ada"}
    encrypted = await parent.request("encryption.encrypt", raw=b"key", source=of, metadata=metadata)
    assert (encrypted.ok, bytes(encrypted.raw)) == (7, b"ada:yek")
    decrypted = await parent.request("encryption.decrypt", raw=bytes(encrypted.raw), source=of, metadata=metadata)
    assert (decrypted.ok, bytes(decrypted.raw)) == (3, b"key")
    objects = [{"model": "thread", "field": "metadata", "data": {"a": "b"}}]
    for action, data in (("encrypt", {"a": "secret b"}), ("decrypt", {"a": "b"})):
        raw = json.dumps(objects).encode()
        answer = await parent.request("encryption.json", raw=raw, source=of, metadata=metadata, action=action)
        assert json.loads(bytes(answer.raw)) == [{"data": data}]


async def test_texts_become_vectors(parent: FakeParent) -> None:
    of = {"kind": "export", **source("embed")}
    answer = await parent.request("embed.texts", source=of, texts=["a", "bcd"], **{"as": "documents"})
    assert (answer.ok, struct.unpack("<4f", answer.raw)) == ([2, 2], (1.0, 0.5, 3.0, 0.5))
