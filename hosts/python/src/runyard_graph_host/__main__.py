"""Speaks with the parent over file descriptor 3 and nothing else. When that connection ends, so does the process."""

import argparse
import asyncio
import os
import platform
import socket
import sys
from typing import Any, NoReturn

from .langgraph.versions import installed_libraries
from .process.exits import end_with_parent, guard_signals
from .process.pulse import start_pulse
from .protocol.connection import HostConnection

_PARENT_FD = 3
_PROTOCOLS = [1]


def main() -> NoReturn:
    end_with_parent()
    os.set_inheritable(_PARENT_FD, False)
    options = _take_options()
    start_pulse(options.pulse_fd, options.memory_mb)
    loop = _new_loop()
    loop.create_task(_serve(loop), name="host")
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            # A task of the project called `sys.exit`. Who waits for that task gets the error.
            continue


def _take_options() -> argparse.Namespace:
    """Returns what the parent asks for. Code of the project that reads `sys.argv` finds none of it."""
    parser = argparse.ArgumentParser(prog="runyard_graph_host")
    parser.add_argument("--pulse-fd", type=int)
    parser.add_argument("--memory-mb", type=int)
    options = parser.parse_args()
    del sys.argv[1:]
    return options


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop

        loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    except ImportError:
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop


async def _serve(loop: asyncio.AbstractEventLoop) -> None:
    connection = HostConnection(lambda header, raw: host.receive(header, raw), lambda _reason: _exit())
    parent = socket.socket(fileno=_PARENT_FD)
    await loop.create_connection(lambda: connection, sock=parent)
    connection.send(
        0,
        {
            "t": "hello",
            "protocol": _PROTOCOLS[0],
            "protocols": _PROTOCOLS,
            "language": "python",
            "runtime": f"{platform.python_implementation().lower()} {platform.python_version()}",
            "libraries": installed_libraries(),
        },
    )
    # LangGraph takes a second to import, and the parent knows by then that this process lives.
    connection.flush()
    try:
        from .host import Host
    except ImportError as error:
        # `sys.exit` would leave the event loop alone.
        print(  # noqa: T201 - the parent shows the last lines of a host that ends
            f"The project needs langgraph 0.6 or newer in the environment of {sys.executable}: "
            f"`{sys.executable} -m pip install langgraph`. ({error})",
            file=sys.stderr,
        )
        os._exit(1)

    host = Host(connection)
    guard_signals(host.warn)
    loop.set_exception_handler(lambda _loop, context: _log_forgotten(host, context))


def _log_forgotten(host: Any, context: dict[str, Any]) -> None:
    """Logs the exception of a task that nobody waited for: it fails no run."""
    from .process.output import describe_exception

    error = context.get("exception")
    text = describe_exception(error) if error is not None else ""
    host.log({"level": "error", "message": f"{context.get('message')}: {text}".rstrip(": ")})


def _exit() -> NoReturn:
    # Threads of user code that still work are not waited for.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
