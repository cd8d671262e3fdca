"""The models and tools that a run calls."""

from pathlib import Path
from typing import Any

import pytest

from fake_parent import FakeParent, started_host

PROJECTS = Path(__file__).parent / "projects"
ONCE = {
    "provider": "gcp.gemini",
    "model": "metered-1",
    "calls": 1,
    "failed": 0,
    "inputTokens": 12,
    "outputTokens": 3,
    "cacheReadTokens": 4,
    "cacheCreationTokens": 5,
    "reasoningTokens": 2,
}


@pytest.fixture
async def parent() -> Any:
    async with started_host(PROJECTS, metered="metered.py:metered") as parent:
        yield parent


async def reported(parent: FakeParent, given: dict[str, Any]) -> list[dict[str, Any]]:
    use = parent.start("metered", input=given)
    await parent.finish(use)
    return [header["usage"] for header, _ in parent.received if header["t"] == "run.usage" and header["use"] == use]


async def test_a_run_says_which_models_and_tools_it_has_called_and_what_they_have_used(parent: FakeParent) -> None:
    usage = await reported(parent, {"ask": "hi", "times": 3})
    assert usage[-1] == {"models": [ONCE], "tools": [{"name": "look", "calls": 3, "failed": 0}]}


async def test_what_a_step_has_used_is_known_before_its_checkpoint(parent: FakeParent) -> None:
    usage = await reported(parent, {"ask": "wait"})
    # It is at its question, with nothing used since the checkpoint before.
    assert usage == [{"models": [ONCE], "tools": [{"name": "look", "calls": 1, "failed": 0}]}]


async def test_a_call_that_fails_counts_as_failed(parent: FakeParent) -> None:
    (model,) = (await reported(parent, {"ask": "fail"}))[-1]["models"]
    assert (model["calls"], model["failed"], model["inputTokens"]) == (1, 1, 0)
