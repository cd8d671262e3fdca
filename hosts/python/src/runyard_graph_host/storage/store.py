"""LangGraph's store over the parent's storage."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import orjson
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from ..protocol.connection import HostConnection
from ..protocol.errors import BackendError, RemoteError
from ..serialization.wire_json import to_wire_json
from .portal import Portal

_IMPOSSIBLE: list[str] = []


class RunyardStore(BaseStore):
    supports_ttl = True

    __slots__ = ("_connection", "_portal", "_use")

    def __init__(self, connection: HostConnection, use: int, portal: Portal) -> None:
        self._connection = connection
        self._use = use
        self._portal = portal

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._portal.run(self._batch(list(ops)))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._portal.call(self._batch(list(ops)), "The store")

    async def _batch(self, ops: list[Op]) -> list[Result]:
        asked = [_document_of(op) for op in ops]
        operations = [document for document in asked if document is not None]
        answers: list[Any] = []
        if operations:
            header = {"t": "store.batch", "use": self._use, "operations": operations}
            try:
                answers = (await self._connection.request(self._use, header)).ok
            except RemoteError as error:
                raise BackendError(error) from error
        left = iter(answers)
        return [[] if document is None else _result_of(op, next(left)) for op, document in zip(ops, asked, strict=True)]


def _document_of(op: Op) -> dict[str, Any] | None:
    """Returns an operation as storage takes it; None for a listing whose conditions exclude each other."""
    if isinstance(op, GetOp):
        document: dict[str, Any] = {"kind": "get", "namespace": op.namespace, "key": op.key}
    elif isinstance(op, PutOp):
        # Dates and ids among the values become text here, as LangGraph's own store has them in JSON.
        value = None if op.value is None else orjson.Fragment(to_wire_json(op.value))
        document = {"kind": "put", "namespace": op.namespace, "key": op.key, "value": value}
        if op.index is not None:
            document["index"] = op.index
        if op.ttl is not None:
            document["ttlMinutes"] = op.ttl
    elif isinstance(op, SearchOp):
        document = {
            "kind": "search",
            "namespacePrefix": op.namespace_prefix,
            "limit": op.limit,
            "offset": op.offset,
        }
        if op.filter is not None:
            document["filter"] = op.filter
        if op.query is not None:
            document["query"] = op.query
    elif isinstance(op, ListNamespacesOp):
        return _listing_of(op)
    else:
        raise TypeError(f"The store has no operation {type(op).__name__}")
    # Without it, the setting of the store counts.
    if getattr(op, "refresh_ttl", True) is False:
        document["refreshTtl"] = False
    return document


def _listing_of(op: ListNamespacesOp) -> dict[str, Any] | None:
    document: dict[str, Any] = {"kind": "listNamespaces", "limit": op.limit, "offset": op.offset}
    for match_type in ("prefix", "suffix"):
        path = _merge_paths(op.match_conditions or (), match_type)
        if path is _IMPOSSIBLE:
            return None
        if path is not None:
            document[match_type] = path
    if op.max_depth is not None:
        document["maxDepth"] = op.max_depth
    return document


def _merge_paths(conditions: Sequence[MatchCondition], match_type: str) -> list[str] | None:
    """Returns one path that matches exactly what all conditions of a type match; `*` is any one segment."""
    paths = [list(condition.path) for condition in conditions if condition.match_type == match_type]
    if not paths:
        return None
    is_suffix = match_type == "suffix"
    merged: list[str] = []
    for path in paths:
        for position, segment in enumerate(reversed(path) if is_suffix else path):
            if position == len(merged):
                merged.append(segment)
            elif merged[position] == "*":
                merged[position] = segment
            elif segment not in ("*", merged[position]):
                return _IMPOSSIBLE
    return merged[::-1] if is_suffix else merged


def _result_of(op: Op, answer: Any) -> Result:
    if isinstance(op, GetOp):
        return None if answer is None else Item(**_fields_of(answer))
    if isinstance(op, SearchOp):
        return [SearchItem(**_fields_of(item), score=item.get("score")) for item in answer]
    if isinstance(op, ListNamespacesOp):
        return [tuple(namespace) for namespace in answer]
    return None


def _fields_of(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": item["value"],
        "created_at": datetime.fromisoformat(item["createdAt"]),
        "updated_at": datetime.fromisoformat(item["updatedAt"]),
    }
