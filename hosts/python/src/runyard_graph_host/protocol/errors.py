"""Errors as they go over the wire, and errors of the host that have a kind of their own."""

from typing import Any, NotRequired, TypedDict

from ..process.exits import ProcessExitError

_MAX_MESSAGE_LENGTH = 64 * 1024
_STORAGE_REASONS = frozenset(
    (
        "fenced",
        "unavailable",
        "unreadable",
        "too_large",
        "invalid",
        "embedding_failed",
        "encryption_failed",
        "not_found",
        "storage_failed",
    )
)


class FailedStep(TypedDict):
    """The superstep of an update of state that failed, counted from 0, and its node."""

    superstep: int
    asNode: str | None


class ErrorBody(TypedDict):
    kind: str
    error: str
    message: str
    graphId: NotRequired[str]
    step: NotRequired[FailedStep]


class RemoteError(Exception):
    """The parent answered a request with an error, or has closed the connection (`gone`)."""

    def __init__(self, kind: str, error: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.error = error


class BackendError(Exception):
    """The platform's storage refused an operation, or could not be reached."""

    def __init__(self, error: RemoteError) -> None:
        super().__init__(str(error))
        self.reason = error.kind if error.kind in _STORAGE_REASONS else "storage_failed"
        self.error = error.error


class GraphLoadError(Exception):
    """The project cannot be run. The message is for its author."""

    def __init__(self, message: str, graph_id: str | None = None) -> None:
        super().__init__(message)
        self.graph_id = graph_id


class GraphRequestError(Exception):
    """A request was refused: `not_found`, `bad_request`, or `failed` where the graph's own code raised."""

    def __init__(self, reason: str, message: str, name: str | None = None, step: FailedStep | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.name = name
        self.step = step


def error_body(error: BaseException, kind: str = "failed") -> ErrorBody:
    """Describes an error to clients: the name of its class, and its message."""
    if isinstance(error, SystemExit | KeyboardInterrupt):
        error = ProcessExitError(error)
    name = error.error if isinstance(error, BackendError) else type(error).__name__
    return {"kind": kind, "error": name, "message": clip(message_of(error))}


def message_of(error: BaseException) -> str:
    """Returns the text of an error. Its own `__str__` may fail."""
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__name__} whose text cannot be made>"


def clip(message: str) -> str:
    return message if len(message) <= _MAX_MESSAGE_LENGTH else f"{message[:_MAX_MESSAGE_LENGTH]}…"


def describe_error(error: BaseException) -> ErrorBody:
    """Makes the error of an answer."""
    if isinstance(error, GraphLoadError):
        body = error_body(error, "load")
        if error.graph_id is not None:
            body["graphId"] = error.graph_id
        return body
    if isinstance(error, GraphRequestError):
        body = error_body(error, error.reason)
        if error.name is not None:
            body["error"] = error.name
        if error.step is not None:
            body["step"] = error.step
        return body
    if isinstance(error, BackendError):
        return error_body(error, error.reason)
    if isinstance(error, RemoteError):
        return {"kind": error.kind, "error": error.error, "message": message_of(error)}
    return error_body(error)


Header = dict[str, Any]
