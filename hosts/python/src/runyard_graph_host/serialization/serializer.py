"""LangGraph's own serializer, as it stores the state of graphs, and as it reads it for clients."""

import inspect
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ..langgraph.missing_classes import notice_missing_classes
from ..langgraph.plain_values import plain_extension

Warn = Callable[[str], None]


class StateSerializer(JsonPlusSerializer):
    """Stores values with their classes, and gives back objects of these classes.

    What msgpack has no form for is pickled, unless the project has turned that off.
    """

    def __init__(self, warn: Warn, *, pickle_fallback: bool = True, **allowed: Any) -> None:
        # Older lines have no such settings.
        known = inspect.signature(JsonPlusSerializer.__init__).parameters
        super().__init__(
            pickle_fallback=pickle_fallback, **{key: value for key, value in allowed.items() if key in known}
        )
        self._warn = warn
        self._warned: set[type | str] = set()
        # With a list of classes, LangGraph imports no other, and tells each by itself.
        if getattr(self, "_allowed_msgpack_modules", True) is True:
            self._unpack_ext_hook = notice_missing_classes(self._unpack_ext_hook, self._warn_about_class)

    @staticmethod
    def of_project(project: Mapping[str, Any], warn: Warn) -> "StateSerializer":
        """Makes the serializer that `checkpointer.serde` of langgraph.json describes."""
        settings = project.get("python", {})
        allowed: dict[str, Any] = {"allowed_json_modules": _modules(project.get("revivableModules"))}
        # Without it, LangGraph's own setting counts.
        if "msgpackModules" in settings:
            allowed["allowed_msgpack_modules"] = _modules(settings["msgpackModules"])
        return StateSerializer(warn, pickle_fallback=settings.get("pickles", True), **allowed)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        fallback, self.pickle_fallback = self.pickle_fallback, False
        try:
            return super().dumps_typed(obj)
        except ormsgpack.MsgpackEncodeError as error:
            if not fallback:
                raise TypeError(f'{error}; "checkpointer.serde.pickle_fallback" is off') from error
            self._warn_about(obj, error)
            return "pickle", _pickle(obj)
        finally:
            self.pickle_fallback = fallback

    def _warn_about_class(self, name: str) -> None:
        if name in self._warned:
            return
        self._warned.add(name)
        self._warn(f"State names the class {name}, which the project does not have any more; it is read as plain data.")

    def _warn_about(self, obj: Any, error: Exception) -> None:
        if type(obj) in self._warned:
            return
        self._warned.add(type(obj))
        self._warn(
            f"The state has a value that is stored by pickle ({error}): only this version of its code can read it."
        )


class PlainSerializer(JsonPlusSerializer):
    """Reads stored values as plain data, without importing a class.

    So state stays readable when a class is no more, and nothing of the project runs for it. What was pickled is code:
    it is read where the project allows pickles, and is None elsewhere.
    """

    def __init__(self, *, pickles: bool = True) -> None:
        super().__init__(pickle_fallback=True, __unpack_ext_hook__=plain_extension)
        self._pickles = pickles

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return None if data[0] == "pickle" and not self._pickles else super().loads_typed(data)


def _modules(given: Any) -> Any:
    return [tuple(module) for module in given] if isinstance(given, list) else given


def _pickle(obj: Any) -> bytes:
    try:
        return pickle.dumps(obj)
    except (pickle.PicklingError, AttributeError, TypeError):
        try:
            import cloudpickle
        except ImportError:
            raise
        data: bytes = cloudpickle.dumps(obj)
        return data
