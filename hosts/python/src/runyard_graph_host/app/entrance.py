"""Takes what the parent says about a request out of its headers, before code of the project sees them."""

import base64
import json
from typing import Any

from ..loading.project_user import ProjectUser
from ..process.current_request import ServedRequest, served_request
from .asgi import AsgiApp, Receive, Scope, Send

_PREFIX = b"x-runyard-"
_UNKNOWN_CLIENT = ("127.0.0.1", 0)


class Entrance:
    def __init__(self, app: AsgiApp, state: dict[str, Any]) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        about: dict[bytes, bytes] = {}
        headers: list[tuple[bytes, bytes]] = []
        for name, value in scope["headers"]:
            if name.startswith(_PREFIX):
                about[name.removeprefix(_PREFIX)] = value
            else:
                headers.append((name, value))
        exchange = about.get(b"exchange")
        served_request.set(ServedRequest(int(about.get(b"depth", b"0")), exchange.decode() if exchange else None))
        entered = {**scope, "headers": headers, "state": dict(self._state), **_caller_of(about.get(b"user"))}
        # A Unix socket has no address, and code that asks for it expects one.
        entered["client"] = scope.get("client") or _UNKNOWN_CLIENT
        await self._app(entered, receive, send)


def _caller_of(user: bytes | None) -> dict[str, Any]:
    """Returns what `request.user` and `request.auth` are."""
    from starlette.authentication import AuthCredentials, UnauthenticatedUser

    if user is None:
        return {"user": UnauthenticatedUser(), "auth": AuthCredentials()}
    fields = json.loads(base64.urlsafe_b64decode(user + b"=" * (-len(user) % 4)))
    return {"user": ProjectUser(fields), "auth": AuthCredentials(fields.get("permissions"))}
