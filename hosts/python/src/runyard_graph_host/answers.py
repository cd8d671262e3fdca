"""Results of requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AnswerWithBytes:
    """A result with raw bytes behind it."""

    ok: Any
    raw: Sequence[bytes]
