"""The config with which LangGraph executes a run, and the metadata of the run."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypedDict
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from ..langgraph.names import CHECKPOINTER_KEY, RUNTIME_KEY
from ..langgraph.versions import API_VERSION, langgraph_version
from ..loading.project_user import user_of
from ..storage.saver import RunyardSaver

Request = Mapping[str, Any]


class GraphConfig(TypedDict):
    """What a graph is given beside its input."""

    config: RunnableConfig
    context: Any


def run_metadata(request: Request, public_url: str | None) -> dict[str, Any]:
    """Describes a run to tracers and clients of its stream."""
    return {
        "created_by": "system",
        **(request["config"].get("metadata") or {}),
        **_ids_of(request),
        "thread_id": request["threadId"],
        "langgraph_version": langgraph_version(),
        "langgraph_api_version": API_VERSION,
        "langgraph_plan": "self_hosted",
        "langgraph_host": "self-hosted",
        "langgraph_api_url": public_url,
    }


def checkpoint_metadata(request: Request) -> dict[str, Any]:
    """Returns the metadata that are stored with every checkpoint of a run: clients filter histories by them."""
    given = {key: value for key, value in (request["config"].get("metadata") or {}).items() if key != "writes"}
    return {"created_by": "system", **given, **_ids_of(request)}


def run_config(
    request: Request,
    *,
    is_resuming: bool,
    saver: RunyardSaver | None,
    store: BaseStore,
    public_url: str | None,
    callbacks: list[Any],
) -> RunnableConfig:
    given = request["config"]
    configurable = dict(given["configurable"])
    if is_resuming:
        # The attempt goes on from the thread's newest checkpoint, wherever the run began.
        for key in ("checkpoint_id", "checkpoint_map"):
            configurable.pop(key, None)
    user = user_of(configurable)
    if user is not None:
        configurable["langgraph_auth_user"] = user
    configurable[RUNTIME_KEY] = Runtime(store=store)
    if saver is not None:
        configurable[CHECKPOINTER_KEY] = saver
    config: dict[str, Any] = {
        "configurable": configurable,
        "metadata": run_metadata(request, public_url),
        "callbacks": callbacks,
    }
    for key in ("tags", "recursion_limit", "max_concurrency", "run_name"):
        if given.get(key) is not None:
            config[key] = int(given[key]) if key in ("recursion_limit", "max_concurrency") else given[key]
    if request["attempt"] == 1:
        # A tracer takes no second run of the same id.
        config["run_id"] = UUID(request["runId"])
    return config  # type: ignore[return-value] # The keys are those of RunnableConfig.


def newest_state_config(config: RunnableConfig) -> RunnableConfig:
    """Returns a config that reads the thread's newest state, wherever the run began."""
    configurable = config["configurable"]
    kept = {key: configurable[key] for key in ("thread_id", CHECKPOINTER_KEY, RUNTIME_KEY) if key in configurable}
    return {"configurable": {**kept, "checkpoint_ns": ""}}


def fit_context(schema: Any, context: Any) -> Any:
    """Drops the keys that the schema of the context does not have: clients give what other graphs want, too."""
    if schema is None or not isinstance(context, Mapping):
        return context
    names = _names_of(schema)
    return context if names is None else {key: value for key, value in context.items() if key in names}


def _names_of(schema: Any) -> set[str] | None:
    if dataclasses.is_dataclass(schema):
        return {field.name for field in dataclasses.fields(schema)}
    fields = getattr(schema, "model_fields", None)
    if isinstance(fields, Mapping):
        return {name for key, value in fields.items() for name in (key, getattr(value, "alias", None)) if name}
    annotations = getattr(schema, "__annotations__", None)
    return set(annotations) if isinstance(annotations, Mapping) and annotations else None


def _ids_of(request: Request) -> dict[str, Any]:
    return {
        "assistant_id": request["assistantId"],
        "graph_id": request["graphId"],
        "run_id": request["runId"],
        "run_attempt": request["attempt"],
    }
