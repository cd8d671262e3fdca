"""Asks the `Auth` object of a project."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from langgraph_sdk.auth.types import AuthContext

from ..loading.project_user import ProjectUser
from ..protocol.errors import GraphLoadError
from .authenticator import Authenticator
from .refusals import Refusal, refusal_of

Handler = Callable[..., Any]
Fields = dict[str, Any]

# Ids in what a handler is asked about: LangGraph's own server has them as such.
_IDS = frozenset(("thread_id", "assistant_id", "run_id", "cron_id"))
# Parts of the namespaces of a store, which are tuples in Python.
_TUPLES = frozenset(("namespace", "suffix"))


class ProjectAuth:
    def __init__(self, exported: Any, symbol: str) -> None:
        authenticate = getattr(exported, "_authenticate_handler", None)
        if not hasattr(exported, "_handlers") or not hasattr(exported, "_global_handlers"):
            raise GraphLoadError(f'the export "{symbol}" is not an Auth object of langgraph_sdk.')
        if authenticate is None:
            raise GraphLoadError("the Auth object has no authenticate handler, so nobody could call.")
        self.authenticator = Authenticator(authenticate)
        self._handlers = {_event_of(*key): handlers[-1] for key, handlers in exported._handlers.items() if handlers}
        if exported._global_handlers:
            self._handlers["*"] = exported._global_handlers[-1]

    @property
    def events(self) -> list[str]:
        return list(self._handlers)

    async def authorize(self, request: Mapping[str, Any], value: Fields) -> tuple[Fields, Fields]:
        """Returns the answer of `auth.authorize`, and the value as the handler left it."""
        resource, action, user = request["resource"], request["action"], ProjectUser(request["user"])
        handler = self._handler_of(resource, action)
        if handler is None:
            return {"kind": "allowed", "filter": None}, value
        context = AuthContext(permissions=user.permissions, user=user, resource=resource, action=action)
        given = {key: _as_handlers_know(resource, key, part) for key, part in value.items()}
        try:
            found = await handler(ctx=context, value=given)
        except AssertionError as error:
            return Refusal(403, str(error), {}).answer, value
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            return refusal.answer, value
        if found is False:
            return {"kind": "denied"}, value
        return {"kind": "allowed", "filter": _filter_of(found)}, given

    def _handler_of(self, resource: str, action: str) -> Handler | None:
        """Returns the most specific handler; one alone runs."""
        names = (f"{resource}:{action}", resource, f"*:{action}", "*")
        return next((self._handlers[name] for name in names if name in self._handlers), None)


def _event_of(resource: str, action: str) -> str:
    if action == "*":
        return resource
    return f"{resource}:{action}"


def _filter_of(found: Any) -> dict[str, Any] | None:
    if found is None or found is True:
        return None
    if not isinstance(found, Mapping):
        raise TypeError("the handler returned neither a boolean nor a filter")
    return dict(found)


def _as_handlers_know(resource: str, key: str, part: Any) -> Any:
    if key in _IDS:
        return _as_id(part)
    return tuple(part) if resource == "store" and key in _TUPLES and isinstance(part, list) else part


def _as_id(value: Any) -> Any:
    try:
        return UUID(value) if isinstance(value, str) else value
    except ValueError:
        return value
