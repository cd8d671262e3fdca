"""Releases of the libraries in the environment of the project."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

# The level of the agent server API that runs report in their metadata: that of the host for JavaScript.
API_VERSION = "0.1.0"


@cache
def langgraph_version() -> str | None:
    return _version_of("langgraph")


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def installed_libraries() -> dict[str, str]:
    """Returns the releases of what executes graphs, without loading it."""
    found = {name: _version_of(name) for name in ("langgraph", "langgraph-checkpoint", "langchain-core")}
    return {name: release for name, release in found.items() if release is not None}
