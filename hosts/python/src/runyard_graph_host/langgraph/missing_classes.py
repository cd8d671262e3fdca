"""Classes that stored values name, and that the project does not have any more."""

import sys
from collections.abc import Callable
from typing import Any

import ormsgpack

from .plain_values import plain_extension

UnpackExtension = Callable[[int, bytes], Any]

# The extensions of msgpack that begin with the module and the name of a class.
_CLASS_CODES = frozenset(range(6))
# Exactly these types are what LangGraph gives back where it cannot make the object.
_PLAIN = frozenset((dict, list, str, int, float, bool, bytes, type(None)))


def notice_missing_classes(unpack: UnpackExtension, report: Callable[[str], None]) -> UnpackExtension:
    """Wraps a function that imports the classes of values: reports each that is not there, and keeps what it had."""

    def unpack_noticing(code: int, data: bytes) -> Any:
        value = unpack(code, data)
        if type(value) not in _PLAIN or code not in _CLASS_CODES or (name := _missing_class(data)) is None:
            return value
        report(name)
        # Older lines lose the value.
        return plain_extension(code, data) if value is None else value

    return unpack_noticing


def _missing_class(data: bytes) -> str | None:
    """Returns the name of the class as the value has it; None where the class is there."""
    try:
        module, name, *_ = ormsgpack.unpackb(data, ext_hook=lambda *_: None, option=ormsgpack.OPT_NON_STR_KEYS)
    except ValueError:
        return None
    return None if hasattr(sys.modules.get(module), name) else f"{module}.{name}"
