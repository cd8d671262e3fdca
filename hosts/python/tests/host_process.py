"""The host as a process of its own, with the parent in the test's process."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fake_parent import LIMITS, FakeParent

SOURCES = Path(__file__).parents[1] / "src"


class HostProcess(FakeParent):
    process: asyncio.subprocess.Process
    # The end of the pipe that the signs of life come from.
    pulse: int

    async def load(
        self, directory: Path, graphs: dict[str, str], loopback: dict[str, str] | None, **project: Any
    ) -> None:
        documents = [
            {"graphId": graph_id, "file": str(directory / source.split(":")[0]), "symbol": source.split(":")[1]}
            for graph_id, source in graphs.items()
        ]
        whole = {"directory": str(directory), "graphs": documents, "env": {}, "revivableModules": [], **project}
        await self.until(lambda: self.received and self.received[0][0]["t"] == "hello")
        await self.request("init", protocol=1, project=whole, loopback=loopback, publicUrl=None, limits=LIMITS)


@asynccontextmanager
async def host_process(
    directory: Path,
    *,
    loopback: dict[str, str] | None = None,
    options: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    **graphs: str,
) -> AsyncIterator[HostProcess]:
    ours, theirs = socket.socketpair()

    def take_descriptor() -> None:
        os.dup2(theirs.fileno(), 3)
        os.set_inheritable(3, True)

    pulse, beats = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-X", "utf8", "-m", "runyard_graph_host", "--pulse-fd", str(beats), *options),
        cwd=directory,
        env={**environment, "PYTHONPATH": str(SOURCES)},
        pass_fds=(3, theirs.fileno(), beats),
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=take_descriptor,
    )
    theirs.close()
    os.close(beats)
    parent = HostProcess(ours)
    parent.process = process
    parent.pulse = pulse
    await parent.open()
    try:
        await parent.load(directory, graphs, loopback)
        yield parent
    finally:
        parent.connection.close("the test is over")
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(pulse)


def lines(parent: FakeParent) -> list[tuple[str, str]]:
    return [(line["level"], line["message"]) for line in parent.logs]


__all__ = ["HostProcess", "host_process", "json", "lines"]
