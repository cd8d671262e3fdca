"""Knows which request the code of the project's app is serving, in tasks and threads that it starts too."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServedRequest:
    # The number of requests by the project's own code that led to this one.
    depth: int
    # The name under which the request may be passed on to the deployment's own server, once.
    exchange: str | None


served_request: ContextVar[ServedRequest | None] = ContextVar("runyard_served_request", default=None)
