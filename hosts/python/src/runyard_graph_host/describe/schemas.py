"""JSON Schemas of a graph; None for what it does not say."""

import warnings
from collections.abc import Callable
from typing import Any

from langchain_core.utils.pydantic import create_model

from ..loading.loaded_graph import Graph

JsonSchema = dict[str, Any]

# LangGraph's name for a channel that holds the whole state, which then has no keys.
_ROOT = "__root__"


def schemas_of(graph: Graph) -> dict[str, JsonSchema | None]:
    with warnings.catch_warnings():
        # Older names of schemas are asked for as well.
        warnings.simplefilter("ignore")
        return {
            "input_schema": _attempt(graph.get_input_jsonschema),
            "output_schema": _attempt(graph.get_output_jsonschema),
            "state_schema": _attempt(lambda: _state_schema(graph)),
            "config_schema": _attempt(lambda: _config_schema(graph)),
            "context_schema": _attempt(lambda: _context_schema(graph)),
        }


def input_keys(graph: Graph) -> list[str] | None:
    """Returns the keys that the input may have; None when it is one value of any form."""
    builder = getattr(graph, "builder", None)
    schema = getattr(builder, "input_schema", None) or getattr(builder, "input", None)
    channels = (getattr(builder, "schemas", None) or {}).get(schema)
    if channels is None:
        return None if isinstance(graph.input_channels, str) else list(graph.input_channels)
    return None if _ROOT in channels else list(channels)


def _state_schema(graph: Graph) -> JsonSchema:
    fields: dict[str, Any] = {}
    for name in graph.stream_channels_list:
        update_type = getattr(graph.channels[name], "UpdateType", Any)
        fields[name] = (update_type if _has_schema(update_type) else Any, None)
    schema: JsonSchema = create_model(graph.get_name("State"), **fields).model_json_schema()
    return schema


def _has_schema(kind: Any) -> bool:
    return _attempt(lambda: create_model("Value", value=(kind, None)).model_json_schema()) is not None


def _config_schema(graph: Graph) -> JsonSchema:
    schema = graph.get_config_jsonschema(include=["configurable"])
    configurable: JsonSchema = schema.get("properties", {}).get("configurable", {})
    definitions = schema.get("$defs", {})
    reference = configurable.get("$ref") or next(
        (part["$ref"] for part in configurable.get("allOf", ()) if "$ref" in part), None
    )
    if reference is not None:
        return dict(definitions.get(str(reference).rpartition("/")[2], {}))
    return configurable if configurable.get("properties") else {}


def _context_schema(graph: Graph) -> JsonSchema | None:
    read = getattr(graph, "get_context_jsonschema", None)
    schema: JsonSchema | None = read() if read is not None else None
    return schema


def _attempt(read: Callable[[], JsonSchema | None]) -> JsonSchema | None:
    try:
        return read()
    except Exception:
        return None
