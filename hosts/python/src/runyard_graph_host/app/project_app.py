"""The project's app, with the deployment's own server behind it."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Host, Mount, WebSocketRoute
from starlette.schemas import SchemaGenerator
from starlette.staticfiles import StaticFiles

from ..clients.loopback import LoopbackTransport
from ..protocol.errors import GraphLoadError, message_of
from .entrance import Entrance
from .lifespan import Lifespan
from .pass_on import ServerRoute
from .serving import listen

# The server's own pages describe the routes of the app, too.
_SERVER_PATHS = frozenset(("/docs", "/openapi.json"))
_EVERYTHING = "/*"

Warn = Callable[[str], None]


class ProjectApp:
    """Describes an app as the project made it, and then mounts it in front of the server."""

    def __init__(self, app: Starlette, loopback: LoopbackTransport, warn: Warn) -> None:
        self._app = app
        self._lifespan = Lifespan(app)
        self._stop_listening: list[Callable[[], None]] = []
        own = [route for route in app.router.routes if getattr(route, "path", None) not in _SERVER_PATHS]
        routes = list(_flatten(own))
        self.description = {
            "paths": [_EVERYTHING] if _sees_everything(app) else sorted({_pattern_of(route) for route in routes}),
            "routes": [
                {"method": method, "path": _pattern_of(route)} for route in routes for method in _methods(route)
            ],
            "openApi": _describe(app, own, warn),
            "hasWebSockets": any(_may_have_web_sockets(route) for route in routes),
        }
        app.router.routes[:] = [*own, ServerRoute(loopback, app.router)]
        app.exception_handlers.setdefault(HTTPException, _answer_refusal)
        if 500 not in app.exception_handlers:
            app.exception_handlers.setdefault(Exception, _answer_failure)
        # One that has been built already does not have the handlers.
        app.middleware_stack = None

    async def open(self) -> None:
        """Raises what the app raises."""
        await self._lifespan.open()

    async def listen(self, socket_path: str) -> None:
        self._stop_listening.append(await listen(Entrance(self._app, self._lifespan.state), socket_path))

    async def close(self) -> None:
        for stop_listening in self._stop_listening:
            stop_listening()
        await self._lifespan.close()


def to_project_app(exported: Any, symbol: str, loopback: LoopbackTransport, warn: Warn) -> ProjectApp:
    if not isinstance(exported, Starlette):
        raise GraphLoadError(f'"{symbol}" is a {type(exported).__name__}, not a Starlette or FastAPI app.')
    return ProjectApp(exported, loopback, warn)


def _flatten(routes: Iterable[BaseRoute]) -> Iterable[Any]:
    """Returns routes of included routers in place of the routers, which newer FastAPI keeps apart."""
    try:
        from fastapi.routing import iter_route_contexts
    except ImportError:
        return routes
    return iter_route_contexts(list(routes))


def _sees_everything(app: Starlette) -> bool:
    if app.user_middleware:
        return True
    # FastAPI serves the pages of a single-page app where nothing else fits.
    pages = getattr(app.router, "_iter_low_priority_routes", tuple)
    return any(True for _ in pages())


def _pattern_of(route: Any) -> str:
    path = getattr(route, "path", None)
    if path is None:
        return _EVERYTHING
    return f"{path}/*" if isinstance(_original(route), Mount) else path


def _methods(route: Any) -> list[str]:
    if isinstance(_original(route), WebSocketRoute):
        return []
    return sorted(getattr(route, "methods", None) or ["ALL"])


def _may_have_web_sockets(route: Any) -> bool:
    original = _original(route)
    if isinstance(original, Mount | Host):
        routes = original.routes
        if routes:
            return any(_may_have_web_sockets(each) for each in _flatten(routes))
        return not isinstance(original.app, StaticFiles)
    return isinstance(original, WebSocketRoute)


def _original(route: Any) -> Any:
    return getattr(route, "original_route", route)


def _describe(app: Starlette, routes: list[BaseRoute], warn: Warn) -> dict[str, Any] | None:
    """Returns an OpenAPI document: of FastAPI its own, else what docstrings of routes say in YAML."""
    openapi = getattr(app, "openapi", None)
    try:
        found = openapi() if callable(openapi) else SchemaGenerator({}).get_schema(routes)
        document: dict[str, Any] = json.loads(json.dumps(found, default=str))
    except Exception as error:
        warn(f"The routes of the app are missing in /docs: {type(error).__name__}: {message_of(error)}")
        return None
    return document if document.get("paths") else None


def _answer_refusal(_request: Request, error: Any) -> Response:
    return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)


def _answer_failure(_request: Request, _error: Exception) -> Response:
    # The error itself is logged by who called the app.
    return JSONResponse({"detail": "Internal Server Error"}, 500)
