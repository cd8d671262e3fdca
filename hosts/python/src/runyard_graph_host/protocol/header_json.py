"""Headers of messages as JSON text. What user code puts into them may be no text that JSON can hold."""

import re
from typing import Any

import orjson

_SURROGATES = re.compile("[\ud800-\udfff]")
_OPTIONS = orjson.OPT_NON_STR_KEYS
_INT64_MIN, _UINT64_MAX = -(2**63), 2**64 - 1


def encode_header(header: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(header, option=_OPTIONS)
    except TypeError:
        return orjson.dumps(make_encodable(header), default=str, option=_OPTIONS)


def decode_header(data: bytes | memoryview) -> dict[str, Any]:
    header: dict[str, Any] = orjson.loads(data)
    return header


def make_encodable(value: Any) -> Any:
    """Replaces what orjson refuses inside plain containers: lone surrogates, large integers, keys that are no text."""
    if isinstance(value, str):
        return _SURROGATES.sub("?", value)
    if isinstance(value, int) and not isinstance(value, bool):
        # The text of the number is JSON all the same.
        return value if _INT64_MIN <= value <= _UINT64_MAX else orjson.Fragment(str(value))
    if isinstance(value, dict):
        return {_key(key): make_encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [make_encodable(item) for item in value]
    return value


def _key(key: Any) -> Any:
    if key is None or isinstance(key, bool | float):
        return key
    return _SURROGATES.sub("?", str(key))
