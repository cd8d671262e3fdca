"""Writes messages in the form that the GenAI conventions give to content."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

_TEXT_MAX = 4_096
_CONTENT_MAX = 32_768

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}


@dataclass(frozen=True, slots=True)
class PlainText:
    """What a model that completes texts was given, or has answered."""

    content: str
    role: str


def role_of(message: Any) -> str:
    kind = getattr(message, "type", None) or "generic"
    base = kind.removesuffix("MessageChunk").lower()
    return _ROLES.get(base) or getattr(message, "role", None) or kind


def write_messages(messages: Sequence[Any], finish_reason: str | None = None) -> str:
    """Returns JSON text of the messages, of the newest of them where all are too long."""
    written: list[str] = []
    length = 0
    for message in reversed(messages):
        text = _json(_document_of(message, finish_reason))
        length += len(text)
        if length > _CONTENT_MAX and written:
            break
        written.insert(0, text)
    return f"[{','.join(written)}]"


def write_instructions(messages: Iterable[Any]) -> str | None:
    """Returns JSON text of the instructions among the messages; None when there are none."""
    parts = [part for message in messages for part in _text_parts(message.content)]
    return _json(parts) if parts else None


def write_value(value: Any) -> str:
    """Returns any value as text of limited length."""
    return _cut(value if isinstance(value, str) else _json(value))


def _document_of(message: Any, finish_reason: str | None) -> dict[str, Any]:
    role = role_of(message)
    if role == "tool":
        answered = {"id": getattr(message, "tool_call_id", None), "response": write_value(message.content)}
        parts = [{"type": "tool_call_response", **answered}]
    else:
        calls = getattr(message, "tool_calls", None) or []
        parts = [*_text_parts(message.content), *map(_call_part, calls)]
    return {"role": role, "parts": parts, **({} if finish_reason is None else {"finish_reason": finish_reason})}


def _call_part(call: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call.get("id"), "name": call["name"], "arguments": write_value(call["args"])}


def _text_parts(content: Any) -> list[dict[str, Any]]:
    """Returns the text of a message; of images, audio and files only that they were there."""
    if isinstance(content, str):
        return [{"type": "text", "content": _cut(content)}] if content else []
    return [_block_part(block) for block in content] if isinstance(content, list) else []


def _block_part(block: Any) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "content": _cut(block)}
    fields = block if isinstance(block, dict) else {}
    text = fields.get("text")
    if isinstance(text, str):
        return {"type": "text", "content": _cut(text)}
    return {"type": str(fields.get("type", "unknown"))}


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else f"{text[:_TEXT_MAX]}… ({len(text)} characters)"


def _json(value: Any) -> str:
    fallback: Callable[[Any], Any] = str
    try:
        return orjson.dumps(value, default=fallback, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):
        # A text that has no UTF-8, or what leads to itself.
        return str(value)
