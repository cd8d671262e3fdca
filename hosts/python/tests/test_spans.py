"""The spans of a run, and its trace at LangSmith."""

import asyncio
import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fake_parent import FakeParent, Settled, needs_event_protocol, started_host
from host_process import host_process

PROJECTS = Path(__file__).parent / "projects"
PARENT = "b" * 16
ERROR = {"type": "ValueError", "message": "password=hunter22 was refused"}


@pytest.fixture
async def parent() -> Any:
    async with started_host(PROJECTS, metered="metered.py:metered") as parent:
        yield parent


async def traced(
    parent: FakeParent, given: dict[str, Any], *, with_content: bool = False, **request: Any
) -> tuple[Settled, list[dict[str, Any]]]:
    wanted = {"parentSpanId": PARENT, "withContent": with_content}
    use = parent.start("metered", input=given, spans=wanted, **request)
    settled = await parent.finish(use)
    batches = [header["spans"] for header, _ in parent.received if header["t"] == "run.spans" and header["use"] == use]
    return settled, [span for batch in batches for span in batch]


def named(spans: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(span for span in spans if span["name"] == name)


def way_up(spans: list[dict[str, Any]], name: str) -> list[str]:
    """Returns the names from a span up to the root."""
    span = named(spans, name)
    above = [other["name"] for other in spans if other["spanId"] == span["parentSpanId"]]
    return [name, *(way_up(spans, above[0]) if above else [])]


async def test_a_run_has_a_span_for_its_graph_each_node_and_each_call_of_a_model_or_tool(parent: FakeParent) -> None:
    _, spans = await traced(parent, {"ask": "hi"})
    assert sorted(span["name"] for span in spans) == [
        "chat metered-1",
        "execute_tool look",
        "invoke_agent metered",
        "node wait",
        "node work",
    ]
    for name in ("chat metered-1", "execute_tool look"):
        assert way_up(spans, name) == [name, "node work", "invoke_agent metered"]
    root = named(spans, "invoke_agent metered")
    assert (root["parentSpanId"], root["kind"]) == (PARENT, "internal")
    assert root["attributes"]["gen_ai.operation.name"] == "invoke_agent"
    assert root["attributes"]["runyard.run.attempt"] == 1
    for span in spans:
        assert "error" not in span
        assert root["startMs"] <= span["startMs"] <= span["endMs"] <= root["endMs"]
        assert abs(span["endMs"] / 1000 - time.time()) < 60


async def test_the_span_of_a_model_says_what_was_asked_of_which_model_and_what_it_used(parent: FakeParent) -> None:
    _, spans = await traced(parent, {"ask": "hi"})
    model = named(spans, "chat metered-1")
    assert model["kind"] == "client"
    assert model["attributes"] == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.system": "gcp.gemini",
        "gen_ai.request.model": "metered-1",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 10,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.response.id": "answer-1",
        "gen_ai.response.model": "metered-1-2026",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_creation.input_tokens": 5,
    }
    assert named(spans, "execute_tool look")["attributes"] == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call-1",
    }
    assert named(spans, "node work")["attributes"] == {"langgraph.node": "work", "langgraph.step": 1}


async def test_spans_carry_what_was_said_only_where_that_is_asked_for(parent: FakeParent) -> None:
    _, without = await traced(parent, {"ask": "a secret of mine"})
    for said in ("a secret of mine", "be brief", "all is well", "abcdefgh", "seen"):
        assert said not in json.dumps(without)
    _, spans = await traced(parent, {"ask": "a secret of mine"}, with_content=True)
    attributes = named(spans, "chat metered-1")["attributes"]
    assert json.loads(attributes["gen_ai.system_instructions"]) == [{"type": "text", "content": "be brief"}]
    call = {"type": "tool_call", "id": "call-1", "name": "look", "arguments": '{"place":"here"}'}
    assert json.loads(attributes["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "a secret of mine"}]},
        {"role": "assistant", "parts": [call]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call-1", "response": "seen"}]},
    ]
    assert json.loads(attributes["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "all is well"}], "finish_reason": "stop"},
    ]
    tool = named(spans, "execute_tool look")["attributes"]
    assert tool["gen_ai.tool.call.arguments"] == '{"place":"token=abcdefgh"}'
    assert tool["gen_ai.tool.call.result"] == "seen token=abcdefgh"


async def test_what_is_said_is_cut_where_it_is_long(parent: FakeParent) -> None:
    _, spans = await traced(parent, {"ask": "x" * 100_000}, with_content=True)
    text = named(spans, "chat metered-1")["attributes"]["gen_ai.input.messages"]
    assert len(text) < 10_000
    assert "… (100000 characters)" in json.loads(text)[0]["parts"][0]["content"]


async def test_the_spans_that_an_error_passes_through_have_failed_and_an_interrupt_is_no_failure(
    parent: FakeParent,
) -> None:
    settled, failed = await traced(parent, {"ask": "fail"})
    assert settled.kind == "failed"
    for name in ("chat metered-1", "node work", "invoke_agent metered"):
        assert named(failed, name)["error"] == ERROR
    assert "error" not in named(failed, "execute_tool look")
    _, waiting = await traced(parent, {"ask": "wait"})
    assert named(waiting, "node wait")["attributes"]["langgraph.interrupted"] is True
    assert [span for span in waiting if "error" in span] == []


async def test_a_run_that_calls_tools_without_end_sends_a_limited_number_of_spans(parent: FakeParent) -> None:
    _, spans = await traced(parent, {"ask": "hi", "times": 2_100})
    assert len(spans) <= 2_001
    assert named(spans, "invoke_agent metered")["attributes"]["runyard.run.dropped_spans"] > 99


@needs_event_protocol
async def test_a_run_that_nobody_traces_sends_no_spans_in_whatever_form_it_streams(parent: FakeParent) -> None:
    await parent.run("metered", input={"ask": "hi"})
    assert [header for header, _ in parent.received if header["t"] == "run.spans"] == []
    forms: list[dict[str, Any]] = [{"streamModes": ["events"]}, {"emitsProtocolEvents": True}]
    for form in forms:
        _, spans = await traced(parent, {"ask": "hi"}, **form)
        assert len(spans) == 5


INGEST = {
    "use_multipart_endpoint": False,
    "size_limit": 100,
    "size_limit_bytes": 2**20,
    "scale_up_nthreads_limit": 1,
    "scale_up_qsize_trigger": 1000,
    "scale_down_nempty_trigger": 4,
}


class LangSmith:
    """Keeps the runs that are sent to it, by the project that they are for."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        keep = self._keep

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                # Without the multipart form, runs come as plain JSON.
                self._answer({"batch_ingest_config": INGEST})

            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
                keep(sent.get("post", []))
                self._answer({})

            def _answer(self, body: dict[str, Any]) -> None:
                text = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _keep(self, runs: list[dict[str, Any]]) -> None:
        with self._changed:
            self.runs.extend(runs)
            self._changed.notify_all()

    async def wait_for(self, projects: set[str]) -> None:
        """Waits until each of these projects has the trace of a run."""

        def wait() -> None:
            with self._changed:
                self._changed.wait_for(lambda: projects <= set(self.roots()))

        await asyncio.to_thread(wait)

    def roots(self) -> dict[str, dict[str, Any]]:
        return {run["session_name"]: run for run in self.runs if run["name"] == "metered"}


@pytest.fixture
def langsmith() -> Iterator[LangSmith]:
    langsmith = LangSmith()
    yield langsmith
    langsmith.server.shutdown()
    langsmith.server.server_close()


EXAMPLE = "01a1c7de-9a41-7a02-8f6d-5b1e2c3d4f50"
CALLER = "20260101T000000000000Z01a1c7de-9a41-7a02-8f6d-5b1e2c3d4f51"


async def test_the_trace_of_a_run_goes_where_the_run_says_and_to_the_project_of_the_environment(
    langsmith: LangSmith,
) -> None:
    environment = {
        **os.environ,
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_ENDPOINT": f"http://127.0.0.1:{langsmith.server.server_port}",
        "LANGSMITH_API_KEY": "key",
        "LANGSMITH_PROJECT": "usual",
    }
    async with host_process(PROJECTS, environment=environment, metered="metered.py:metered") as parent:
        run_id = str(uuid.uuid4())
        tracing: dict[str, Any] = {"project": "mine", "exampleId": EXAMPLE}
        await parent.run("metered", input={"ask": "hi"}, runId=run_id, tracing=tracing)
        await langsmith.wait_for({"mine", "usual"})
        mine, usual = langsmith.roots()["mine"], langsmith.roots()["usual"]
        assert (mine["id"], mine["reference_example_id"]) == (run_id, EXAMPLE)
        assert usual["id"] != run_id
        assert usual.get("reference_example_id") is None

        langsmith.runs.clear()
        below = {"parent": {"trace": CALLER, "baggage": "langsmith-project=of-the-caller"}}
        await parent.run("metered", input={"ask": "hi"}, tracing=below)
        await langsmith.wait_for({"of-the-caller"})
        [(project, root)] = langsmith.roots().items()
        assert (project, root["parent_run_id"]) == ("of-the-caller", CALLER.split("Z")[1])
