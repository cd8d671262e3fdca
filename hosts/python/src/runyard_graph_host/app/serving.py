"""Serves an app to the parent on a Unix socket."""

from collections.abc import Callable

from ..protocol.errors import GraphLoadError
from .asgi import AsgiApp

# Longer than a parent keeps an idle connection.
_KEEP_ALIVE = 75
# A user has whatever fields the project's handler gives it.
_HEADER_BYTES_MAX = 1024 * 1024


async def listen(app: AsgiApp, socket_path: str) -> Callable[[], None]:
    """Returns what ends it. Requests that are being answered go on."""
    try:
        import uvicorn
    except ImportError as error:
        raise GraphLoadError('"http.app" needs uvicorn in the environment of the project.') from error
    config = uvicorn.Config(
        app,
        uds=socket_path,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        # The parent passes on what the gateway says about the client.
        proxy_headers=True,
        forwarded_allow_ips="*",
        server_header=False,
        date_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        h11_max_incomplete_event_size=_HEADER_BYTES_MAX,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # The rest of what a server does is for one that has a process of its own: signals, and a clock for dates.
    await server.startup()

    def close() -> None:
        for each in server.servers:
            each.close()
        for connection in list(server.server_state.connections):
            connection.shutdown()

    return close
