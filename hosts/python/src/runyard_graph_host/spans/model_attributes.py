"""Reads what a call of a model was and gave, from what LangChain reports, into attributes of the GenAI conventions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .message_content import PlainText
from .span_recorder import Attributes

# Providers by the names that LangChain has for them, where the conventions have another.
_PROVIDERS = {
    "amazon_bedrock": "aws.bedrock",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


@dataclass(frozen=True, slots=True)
class ModelCall:
    # None when the model does not say.
    model: str | None
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    attributes: Attributes
    messages: list[Any]
    finish_reason: str | None


def read_model_call(operation: str, invocation: Any, metadata: Any) -> ModelCall:
    params, known = _fields(invocation), _fields(metadata)
    model = _first_text(params.get("model"), params.get("model_name"), known.get("ls_model_name"))
    said = _first_text(known.get("ls_provider")) or "unknown"
    provider = _PROVIDERS.get(said, said)
    max_tokens = (params.get("max_tokens"), params.get("max_completion_tokens"), known.get("ls_max_tokens"))
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        # The name before 1.37, which some backends still read.
        "gen_ai.system": provider,
        "gen_ai.request.model": model,
        "gen_ai.request.max_tokens": _first_number(*max_tokens),
        "gen_ai.request.temperature": _first_number(params.get("temperature"), known.get("ls_temperature")),
        "gen_ai.request.top_p": _first_number(params.get("top_p")),
    }
    return ModelCall(model, _defined(attributes))


def read_model_answer(result: Any) -> ModelAnswer:
    """Reads LangChain's `LLMResult`."""
    generations = getattr(result, "generations", None) or [[]]
    chosen = generations[0]
    first = chosen[0] if chosen else None
    message = getattr(first, "message", None)
    response = _fields(getattr(message, "response_metadata", None))
    info = _fields(getattr(first, "generation_info", None))
    finish = _first_text(response.get("finish_reason"), response.get("stop_reason"), info.get("finish_reason"))
    used, older = getattr(message, "usage_metadata", None), _fields(getattr(result, "llm_output", None))
    attributes = {
        "gen_ai.response.id": _first_text(response.get("id"), getattr(message, "id", None)),
        "gen_ai.response.model": _first_text(response.get("model_name"), response.get("model")),
        "gen_ai.response.finish_reasons": None if finish is None else [finish],
        **_usage(_fields(used), _fields(older.get("token_usage"))),
    }
    messages = [getattr(each, "message", None) or PlainText(each.text, "assistant") for each in chosen]
    return ModelAnswer(_defined(attributes), messages, finish)


def _usage(used: Mapping[str, Any], older: Mapping[str, Any]) -> dict[str, Any]:
    given, made = _fields(used.get("input_token_details")), _fields(used.get("output_token_details"))
    return {
        "gen_ai.usage.input_tokens": _first_number(used.get("input_tokens"), older.get("prompt_tokens")),
        "gen_ai.usage.output_tokens": _first_number(used.get("output_tokens"), older.get("completion_tokens")),
        "gen_ai.usage.reasoning.output_tokens": _first_number(made.get("reasoning")),
        "gen_ai.usage.cache_read.input_tokens": _first_number(given.get("cache_read")),
        "gen_ai.usage.cache_creation.input_tokens": _first_number(given.get("cache_creation")),
    }


def _fields(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first_text(*values: Any) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _first_number(*values: Any) -> float | int | None:
    def is_number(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")

    return next((value for value in values if is_number(value)), None)


def _defined(attributes: dict[str, Any]) -> Attributes:
    return {name: value for name, value in attributes.items() if value is not None}
