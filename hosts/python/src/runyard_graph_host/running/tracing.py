"""Sends the trace of a run to LangSmith: to the requested project, and below the caller's own trace where it names one.

Nothing is sent unless the project's environment enables tracing.
"""

import inspect
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from langsmith import run_helpers, utils

from .run_config import Request

# Older tracers send to one project alone, and know no example.
_HAS_REPLICAS = "replicas" in inspect.signature(run_helpers.tracing_context).parameters


def trace_of(request: Request) -> AbstractContextManager[None]:
    """Returns the context in which LangChain traces as the run asks for."""
    tracing = request.get("tracing")
    if tracing is None or not utils.tracing_is_enabled():
        return nullcontext()
    options: dict[str, Any] = {}
    if (parent := tracing.get("parent")) is not None:
        baggage = {} if parent.get("baggage") is None else {"baggage": parent["baggage"]}
        options["parent"] = {"langsmith-trace": parent["trace"], **baggage}
    usual = utils.get_tracer_project()
    project, example = tracing.get("project", usual), tracing.get("exampleId")
    if project != usual or example is not None:
        if _HAS_REPLICAS:
            options["replicas"] = _replicas(project, example, usual)
        else:
            options["project_name"] = project
    return run_helpers.tracing_context(**options)


def _replicas(project: str, example: str | None, usual: str | None) -> list[Any]:
    """The environment's project gets the trace too, as it gets those of all runs.

    Ids are those of the run in the requested one, and only there it refers to the example.
    """
    updates = None if example is None else {"reference_example_id": example}
    wanted = {"project_name": project, "updates": updates, "primary": True}
    return [wanted] if usual in (None, project) else [wanted, {"project_name": usual, "updates": None}]
