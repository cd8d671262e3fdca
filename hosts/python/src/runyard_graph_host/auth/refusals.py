"""Refusals of the project's handlers."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    detail: str
    headers: dict[str, str]

    @property
    def answer(self) -> dict[str, Any]:
        refusal = {"status": self.status, "detail": self.detail, "headers": self.headers}
        return {"kind": "refused", "refusal": refusal}


def refusal_of(error: BaseException) -> Refusal | None:
    """Returns what an `HTTPException` says; None for other errors.

    Those of the SDK, of Starlette and of FastAPI have the same attributes.
    """
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or not 400 <= status <= 599:
        return None
    headers = getattr(error, "headers", None) or {}
    detail = getattr(error, "detail", None)
    return Refusal(status, "" if detail is None else str(detail), {str(k): str(v) for k, v in headers.items()})
