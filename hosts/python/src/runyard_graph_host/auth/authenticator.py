"""Finds out who calls, by the project's own function."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ..protocol.errors import GraphLoadError
from .dependencies import Dependencies
from .refusals import Refusal, refusal_of

Request = Mapping[str, Any]

_UNAUTHORIZED = Refusal(401, "Unauthorized", {})


class Authenticator:
    """Passes the function what its parameters name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._dependencies = Dependencies(function, _PARTS.__contains__)
        self._names = _wanted_parameters(function, self._dependencies.names)

    async def authenticate(self, request: Request) -> dict[str, Any]:
        """Returns the answer of `auth.authenticate`. What the function raises passes through, unless it refuses."""
        given = _parts_of(request, self._names)
        try:
            async with self._dependencies.solve(lambda: _starlette_request(request)) as solved:
                found = await self._call({**given, **solved})
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            return refusal.answer
        user = to_user(found)
        return _UNAUTHORIZED.answer if user is None else {"kind": "user", "user": user}

    async def _call(self, given: dict[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(**given)
        found = await asyncio.to_thread(self._function, **given)
        return await found if isinstance(found, Awaitable) else found


def to_user(found: Any) -> dict[str, Any] | None:
    """Returns the user that a function answered in any of its forms; None for one without an identity."""
    if isinstance(found, tuple) and len(found) == 2:
        permissions, user = found
        given = to_user(user)
        return None if given is None else {**given, "permissions": _texts(permissions)}
    if found is None or found == "":
        return None
    if isinstance(found, str):
        fields: dict[str, Any] = {"identity": found}
    elif isinstance(found, Mapping):
        fields = dict(found)
    elif hasattr(found, "identity"):
        fields = _fields_of(found)
    else:
        raise TypeError("the authenticate handler returned neither a text nor a user")
    identity = fields.get("identity")
    if not isinstance(identity, str) or identity == "":
        return None
    return {
        **fields,
        "identity": identity,
        "display_name": str(fields.get("display_name") or identity),
        "is_authenticated": fields.get("is_authenticated", True) is True,
        "permissions": _texts(fields.get("permissions") or []),
    }


def _fields_of(user: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for method in ("model_dump", "dict", "to_dict"):
        if callable(getattr(user, method, None)):
            fields = dict(getattr(user, method)())
            break
    else:
        fields = {key: value for key, value in getattr(user, "__dict__", {}).items() if not key.startswith("_")}
    for name in ("identity", "display_name", "is_authenticated", "permissions"):
        if hasattr(user, name):
            fields[name] = getattr(user, name)
    return fields


def _texts(permissions: Any) -> list[str]:
    if isinstance(permissions, str) or not isinstance(permissions, Sequence | set | frozenset):
        raise TypeError("the permissions of the user are no list of texts")
    return [str(permission) for permission in permissions]


def _wanted_parameters(function: Callable[..., Any], dependencies: frozenset[str]) -> list[str]:
    wanted = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in dependencies or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if name in _PARTS:
            wanted.append(name)
        elif parameter.default is parameter.empty:
            known = ", ".join(_PARTS)
            raise GraphLoadError(
                f'the authenticate handler needs "{name}", which is no parameter a handler can have ({known}).'
            )
    return wanted


def _parts_of(request: Request, names: list[str]) -> dict[str, Any]:
    return {name: _PARTS[name](request) for name in names}


def _scope_of(request: Request) -> dict[str, Any]:
    url = urlsplit(request["url"])
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request["method"],
        "scheme": url.scheme,
        "server": (url.hostname or "", url.port or (443 if url.scheme == "https" else 80)),
        "path": url.path,
        "raw_path": url.path.encode(),
        "query_string": url.query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]],
        "path_params": {},
    }


def _starlette_request(request: Request) -> Any:
    try:
        from starlette.requests import Request as StarletteRequest
    except ImportError as error:
        raise RuntimeError('"request" of the authenticate handler needs starlette in the project') from error
    return StarletteRequest(_scope_of(request))


def _authorization_of(request: Request) -> str | None:
    return next((value for name, value in request["headers"] if name.lower() == "authorization"), None)


_PARTS: dict[str, Callable[[Request], Any]] = {
    "request": _starlette_request,
    # A handler decides before a body is read.
    "body": lambda _: {},
    "user": lambda _: None,
    "path": lambda request: urlsplit(request["url"]).path,
    "method": lambda request: request["method"],
    "scopes": lambda _: [],
    "path_params": lambda _: {},
    "query_params": lambda request: dict(parse_qsl(urlsplit(request["url"]).query, keep_blank_values=True)),
    "headers": lambda request: dict(_scope_of(request)["headers"]),
    "authorization": _authorization_of,
    "scope": _scope_of,
}
