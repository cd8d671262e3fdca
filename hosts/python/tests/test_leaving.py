"""Code of the project that ends its process, in everything that a parent asks for: the parent waits for each answer."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from host_process import HostProcess, host_process
from runyard_graph_host.protocol.errors import RemoteError

PROJECTS = Path(__file__).parent / "projects"
FACTORIES = ("factory", "slow_factory", "leaves_when_closed")
LOOPBACK = {"socketPath": "/nowhere", "token": ""}
CALLER: dict[str, Any] = {"method": "GET", "url": "http://127.0.0.1/", "headers": []}
DECISION = {"resource": "threads", "action": "read", "user": {"identity": "ada"}}
PART = json.dumps([{"model": "thread", "field": "metadata", "data": {"a": "b"}}]).encode()


@pytest.fixture
async def parent() -> Any:
    graphs = {name: f"leaves.py:{name}" for name in (*FACTORIES, "gives_up", "fine")}
    async with host_process(PROJECTS, loopback=LOOPBACK, **graphs) as parent:
        yield parent
        assert (await parent.run("fine", input={"text": ""})).values == {"text": "fine"}


def source(symbol: str, file: str = "leaves.py") -> dict[str, str]:
    return {"file": str(PROJECTS / file), "symbol": symbol}


def about(graph: str) -> dict[str, Any]:
    return {"graphId": graph, "threadId": "t", "config": {"configurable": {}}, "xray": False, "sourceTimeoutMs": 1}


async def error_of(parent: HostProcess, kind: str, /, raw: bytes = b"", **fields: Any) -> str:
    with pytest.raises(RemoteError) as raised:
        await parent.request(kind, raw=raw, **fields)
    assert raised.value.kind == "failed"
    return raised.value.error


async def test_a_factory_that_ends_the_process_fails_its_run_alone(parent: HostProcess) -> None:
    for graph in FACTORIES:
        settled = await parent.run(graph, input={"text": ""})
        assert (settled.kind, settled.header["error"]["error"]) == ("failed", "ProcessExitError")
        assert settled.header["error"]["message"].startswith("The project called sys.exit(3)")


async def test_a_factory_that_ends_the_process_fails_what_asked_for_its_graph(parent: HostProcess) -> None:
    for kind in ("state.get", "graph.draw", "graph.schemas"):
        for graph in FACTORIES:
            assert await error_of(parent, kind, use=900, request=about(graph)) == "ProcessExitError"


async def test_a_factory_that_gives_itself_up_fails_what_asked_for_its_graph(parent: HostProcess) -> None:
    assert await error_of(parent, "state.get", use=900, request=about("gives_up")) == "CancelledError"


async def test_a_handler_that_ends_the_process_fails_what_asked_it(parent: HostProcess) -> None:
    embeds = {"kind": "export", **source("embed")}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("auth.authenticate", {"source": source("auth"), "request": CALLER}),
        ("auth.authenticate", {"source": source("waiting_auth"), "request": CALLER}),
        ("auth.authorize", {"source": source("waiting_auth"), "request": DECISION, "raw": b"{}"}),
        ("encryption.context", {"source": source("encryption"), "request": CALLER}),
        ("encryption.encrypt", {"source": source("encryption"), "metadata": {}, "raw": b"key"}),
        ("encryption.decrypt", {"source": source("encryption"), "metadata": {}, "raw": b"key"}),
        ("encryption.json", {"source": source("encryption"), "metadata": {}, "action": "encrypt", "raw": PART}),
        ("embed.texts", {"source": embeds, "texts": ["a"], "as": "documents"}),
    ]
    for kind, fields in requests:
        assert (kind, await error_of(parent, kind, **fields)) == (kind, "ProcessExitError")


async def test_a_file_that_ends_the_process_is_a_load_error_each_time(parent: HostProcess) -> None:
    of = {"kind": "export", **source("anything", "leaves_at_import.py")}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("auth.load", {"source": of}),
        ("encryption.load", {"source": of}),
        ("embed.texts", {"source": of, "texts": ["a"], "as": "query"}),
        ("app.serve", {"app": of, "socketPath": None}),
    ]
    for kind, fields in requests * 2:
        with pytest.raises(RemoteError, match=r'SystemExit: no key\n  File "leaves_at_import.py", line 5') as raised:
            await parent.request(kind, **fields)
        assert raised.value.kind == "load"


async def test_a_route_that_ends_the_process_fails_its_request_alone(parent: HostProcess, tmp_path: Path) -> None:
    socket_path = str(tmp_path / "app")
    await parent.request("app.serve", app=source("app"), socketPath=socket_path)
    transport = httpx.AsyncHTTPTransport(uds=socket_path)
    async with httpx.AsyncClient(transport=transport, base_url="http://example.com") as client:
        for path in ("/leave", "/later"):
            assert (await client.get(path)).status_code == 500
