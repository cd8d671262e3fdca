"""What user code does to its process, and what the parent gets of it."""

import asyncio
import os
import re
import signal
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from host_process import HostProcess, host_process, lines

PROJECTS = Path(__file__).parent / "projects"
NAMES = [
    "exiting",
    "exiting_in_a_task",
    "forgetting",
    "printing",
    "printing_in_a_thread",
    "signalling",
    "blocking",
    "reading_options",
    "staying",
    "fine",
]


@pytest.fixture
async def parent() -> Any:
    async with host_process(PROJECTS, **{name: f"misbehaves.py:{name}" for name in NAMES}) as parent:
        yield parent


async def test_a_node_that_ends_the_process_fails_its_run_alone(parent: HostProcess) -> None:
    for graph in ("exiting", "exiting_in_a_task"):
        settled = await parent.run(graph, input={"text": ""})
        assert (settled.kind, settled.header["error"]["error"]) == ("failed", "ProcessExitError")
    assert (await parent.run("fine", input={"text": ""})).values == {"text": "fine"}


async def test_an_error_that_nobody_waits_for_is_logged_and_fails_no_run(parent: HostProcess) -> None:
    assert (await parent.run("forgetting", input={"text": ""})).kind == "done"
    found = await parent.until(lambda: [text for _, text in lines(parent) if "nobody waits for this" in text])
    assert "ValueError" in found[0]


async def test_output_is_log_lines_with_the_ids_of_the_run(parent: HostProcess) -> None:
    run_id, thread_id = str(uuid.uuid4()), str(uuid.uuid4())
    await parent.run("printing", input={"text": ""}, runId=run_id, threadId=thread_id)
    assert all(line["runId"] == run_id and line["graphId"] == "printing" for line in parent.logs)
    found = lines(parent)
    assert found[:2] == [("info", "printed"), ("error", "to stderr")]
    assert found[2] == ("warn", "logged here")
    assert parent.logs[2]["data"] == {"logger": "project", "amount": 3}
    assert found[3][1].endswith("UserWarning: warned")
    assert found[4] == ("info", "as bytes")
    assert len(found[5][1]) == 16 * 1024 + 1
    assert found[6] == ("info", "a ? surrogate")


async def test_output_of_threads_has_the_ids_too(parent: HostProcess) -> None:
    run_id = str(uuid.uuid4())
    await parent.run("printing_in_a_thread", input={"text": ""}, runId=run_id)
    assert [(line["message"], line["runId"]) for line in parent.logs] == [("in a thread", run_id)]


async def test_code_that_blocks_the_loop_is_named_once(parent: HostProcess) -> None:
    for _ in range(2):
        assert (await parent.run("blocking", input={"text": ""})).kind == "done"
    [told] = [text for _, text in lines(parent) if "blocks its event loop" in text]
    assert "misbehaves.py" in told
    assert "in blocks" in told


async def test_a_process_gives_signs_of_life_while_code_blocks_its_loop(parent: HostProcess) -> None:
    use = parent.start("blocking", input={"text": ""})
    await parent.until(lambda: [header for header, _ in parent.received if header["t"] == "run.begun"])
    os.set_blocking(parent.pulse, False)
    os.read(parent.pulse, 1000)
    os.set_blocking(parent.pulse, True)
    for _ in range(2):
        assert await asyncio.to_thread(os.read, parent.pulse, 1) == b"."
    assert [header for header, _ in parent.received if header["t"] == "run.settled"] == []
    assert (await parent.finish(use)).kind == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what a process takes")
async def test_a_process_that_takes_more_memory_than_it_may_ends_and_says_so() -> None:
    options = ("--memory-mb", "300")
    async with host_process(PROJECTS, options=options, hoarding="misbehaves.py:hoarding") as parent:
        parent.start("hoarding", input={"text": ""})
        assert parent.process.stderr is not None
        last = (await parent.process.stderr.read()).decode().splitlines()[-1]
        assert re.fullmatch(r"MemoryError: the process takes \d+ MB, and may take 300 \(GRAPH_HOST_HEAP_MB\)", last)
        assert await parent.process.wait() == 1


async def test_code_of_the_project_sees_no_options_of_the_host(parent: HostProcess) -> None:
    assert (await parent.run("reading_options", input={"text": ""})).values == {"text": "1"}


async def test_a_run_that_is_cut_short_says_when_its_threads_have_stopped(parent: HostProcess, tmp_path: Path) -> None:
    marker = tmp_path / "go"
    use = parent.start("staying", input={"text": str(marker)})
    await parent.until(lambda: ("info", "working") in lines(parent))
    parent.connection.send(use, {"t": "run.abort", "use": use, "reason": "the client has gone"})
    settled = await parent.finish(use)
    assert (settled.kind, settled.header.get("isStillWorking")) == ("aborted", True)
    assert [header for header, _ in parent.received if header["t"] == "run.stopped"] == []
    marker.touch()
    stopped = await parent.until(lambda: [header for header, _ in parent.received if header["t"] == "run.stopped"])
    assert stopped == [{"t": "run.stopped", "use": use}]
    assert "isStillWorking" not in (await parent.run("fine", input={"text": ""})).header


async def test_signals_belong_to_the_parent(parent: HostProcess) -> None:
    parent.process.send_signal(signal.SIGTERM)
    parent.process.send_signal(signal.SIGINT)
    assert (await parent.run("fine", input={"text": ""})).kind == "done"
    await parent.run("signalling", input={"text": ""})
    assert [level for level, text in lines(parent) if "SIGTERM" in text] == ["warn"]


async def test_the_process_ends_with_its_connection(parent: HostProcess) -> None:
    parent.connection.close("the parent has gone")
    assert await parent.process.wait() == 0


async def test_the_process_ends_when_it_is_asked_to(parent: HostProcess) -> None:
    assert (await parent.request("shutdown")).ok is None
    assert await parent.process.wait() == 0
