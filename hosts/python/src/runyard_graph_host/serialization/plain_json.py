"""Metadata of checkpoints as plain JSON, by which histories are searched."""

from typing import Any

import orjson

from .wire_json import UnserializableValueError, to_wire_json


def to_plain_json(metadata: dict[str, Any]) -> dict[str, Any]:
    """Leaves out what has no JSON form, and which nobody can search by then."""
    try:
        plain: dict[str, Any] = orjson.loads(to_wire_json(metadata))
        return plain
    except UnserializableValueError:
        return {key: value for key, value in metadata.items() if value is None or isinstance(value, str | int | float)}
