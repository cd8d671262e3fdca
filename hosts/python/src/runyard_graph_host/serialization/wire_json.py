"""Values of graphs as JSON text of the wire.

Values that JSON has no form for become what clients of LangGraph's own server know: a set is a list, bytes are base64,
an exception is `{error, message}`, and an object of an unknown kind is null.
"""

import base64
import dataclasses
import re
from collections import deque
from collections.abc import Callable, Mapping
from datetime import timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from pathlib import PurePath
from typing import Any

import orjson
from langgraph.checkpoint.serde.types import SendProtocol

from ..protocol.errors import clip, message_of
from ..protocol.header_json import make_encodable

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
_ADDRESSES = (IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network)
# An escaped NUL, behind an even number of backslashes: Postgres takes none.
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_REPLACEMENT = b"\\1\xef\xbf\xbd"


class UnserializableValueError(Exception):
    """A value of the graph has no JSON form: it is circular, or nested too deeply."""


def to_wire_json(value: Any) -> bytes:
    try:
        text = orjson.dumps(value, default=to_plain, option=_OPTIONS)
    except TypeError:
        text = _dump_encodable(value)
    return _NUL.sub(_REPLACEMENT, text) if b"\\u0000" in text else text


def to_wire_json_or(payload: Any, without_it: Any) -> bytes:
    """Returns `without_it` as JSON when `payload` has no JSON form.

    Runnables and tools pass any object to each other, and the run must not fail for it.
    """
    try:
        return to_wire_json(payload)
    except UnserializableValueError:
        return to_wire_json(without_it)


def to_plain(value: Any) -> Any:
    """Returns what stands for an object in JSON: something that JSON can hold, or that leads to it."""
    if isinstance(value, type):
        return None
    plain = _attempt(getattr(value, "model_dump", None))
    if plain is None:
        plain = _attempt(getattr(value, "_asdict", None))
    if plain is not None:
        return plain
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": clip(message_of(value))}
    if isinstance(value, set | frozenset | deque):
        return list(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and value.is_finite() else float(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    return _other_to_plain(value)


def _other_to_plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, SendProtocol):
        return {"node": value.node, "args": value.arg}
    if isinstance(value, (PurePath, *_ADDRESSES)):
        return str(value)
    if isinstance(value, tzinfo):
        return value.tzname(None)
    if isinstance(value, re.Pattern):
        return value.pattern
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | list):
        return list(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, str):
        return str(value)
    secret = getattr(value, "get_secret_value", None)
    if callable(secret):
        return str(value)
    # Pydantic's first generation.
    plain = _attempt(getattr(value, "dict", None))
    if plain is None:
        plain = _attempt(getattr(value, "to_json", None))
    return plain if isinstance(plain, dict) else None


def _attempt(method: Callable[[], Any] | None) -> Any:
    if not callable(method):
        return None
    try:
        return method()
    except Exception:
        return None


def _dump_encodable(value: Any) -> bytes:
    try:
        return orjson.dumps(make_encodable(value), default=lambda part: make_encodable(to_plain(part)), option=_OPTIONS)
    except (TypeError, RecursionError) as cause:
        reason = "it is circular or nested too deeply" if _is_too_deep(cause) else str(cause)
        raise UnserializableValueError(f"A value of the graph cannot be sent as JSON: {reason}") from cause


def _is_too_deep(error: BaseException) -> bool:
    return isinstance(error, RecursionError) or "recursion" in str(error).lower()
