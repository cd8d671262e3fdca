"""Stored values as plain data, as LangGraph's own server reads them for clients."""

from typing import Any

import ormsgpack
from langgraph.checkpoint.serde import jsonplus

DeltaSnapshot: Any
try:
    from langgraph.checkpoint.serde.types import _DeltaSnapshot as DeltaSnapshot
except ImportError:
    # Older lines have no channels that are stored as changes.
    DeltaSnapshot = None

_DELTA_SNAPSHOT = 7


def plain_extension(code: int, data: bytes) -> Any:
    """Unpacks an extension of msgpack without importing the class that it names."""
    if code == _DELTA_SNAPSHOT and DeltaSnapshot is not None:
        return DeltaSnapshot(ormsgpack.unpackb(data, ext_hook=plain_extension, option=ormsgpack.OPT_NON_STR_KEYS))
    return jsonplus._msgpack_ext_hook_to_json(code, data)
