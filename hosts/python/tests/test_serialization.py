"""Values of graphs as JSON for clients: as they stream, and as they are read from storage."""

import json
import math
import pickle
import sys
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import ip_address
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langgraph.types import Send
from pydantic import BaseModel

from runyard_graph_host.serialization.serializer import PlainSerializer, StateSerializer
from runyard_graph_host.serialization.wire_json import UnserializableValueError, to_wire_json, to_wire_json_or


class Colour(Enum):
    RED = "red"


class Point(NamedTuple):
    x: int


@dataclass
class Plan:
    steps: list[str]


class Model(BaseModel):
    when: datetime


class CustomError(Exception):
    pass


# A value, how it streams, and how a client reads it from a thread's state.
VALUES: list[tuple[Any, Any, Any]] = [
    (Decimal("1.50"), 1.5, "1.50"),
    (timedelta(seconds=90), 90.0, [0, 90, 0]),
    (ValueError("v"), {"error": "ValueError", "message": "v"}, "ValueError('v')"),
    (CustomError("c"), {"error": "CustomError", "message": "c"}, "CustomError('c')"),
    ({1}, [1], [1]),
    (frozenset((1,)), [1], [1]),
    (deque((1, 2)), [1, 2], [1, 2]),
    ((1, 2), [1, 2], [1, 2]),
    (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00", "2026-01-02T00:00:00+00:00"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000001"),
    (Colour.RED, "red", "red"),
    (PurePosixPath("/a/b"), "/a/b", "/a/b"),
    (ip_address("127.0.0.1"), "127.0.0.1", "127.0.0.1"),
    (b"\x00\x01", "AAE=", "AAE="),
    (Point(1), {"x": 1}, {"x": 1}),
    (Plan(["a"]), {"steps": ["a"]}, {"steps": ["a"]}),
    (Model(when=datetime(2026, 1, 2, tzinfo=UTC)), {"when": "2026-01-02T00:00:00Z"}, {"when": "2026-01-02T00:00:00Z"}),
    (math.nan, None, None),
    (math.inf, None, None),
    ("a\x00b", "a�b", "a�b"),
    ("a\ud800b", "a?b", "a?b"),
    (r"a\u0000b", r"a\u0000b", r"a\u0000b"),
    ({1: "a", (2, 3): "b"}, {"1": "a", "(2, 3)": "b"}, None),
    (2**80, 2**80, None),
    (Send("node", {"a": 1}), {"node": "node", "args": {"a": 1}}, {"node": "node", "args": {"a": 1}}),
]


def normalized(value: Any) -> Any:
    """Forgives the two ways to write the same zone."""
    return json.loads(json.dumps(value).replace("+00:00", "Z"))


@pytest.mark.parametrize(("value", "streamed", "_read"), VALUES, ids=lambda value: repr(value)[:40])
def test_a_value_streams_as_clients_know_it(value: Any, streamed: Any, _read: Any) -> None:
    assert normalized(json.loads(to_wire_json({"value": value}))["value"]) == normalized(streamed)


@pytest.mark.parametrize(
    ("value", "read"),
    [(value, read) for value, _, read in VALUES if read is not None],
    ids=lambda value: repr(value)[:40],
)
def test_a_value_is_read_from_storage_without_its_class(value: Any, read: Any) -> None:
    stored = StateSerializer(lambda _: None).dumps_typed({"value": value})
    assert normalized(json.loads(to_wire_json(PlainSerializer().loads_typed(stored)))["value"]) == normalized(read)


def test_a_message_is_a_flat_object_with_all_its_fields() -> None:
    streamed = json.loads(to_wire_json([HumanMessage("hi", id="h"), AIMessage("yo", id="a")]))
    assert [message["type"] for message in streamed] == ["human", "ai"]
    assert streamed[1].keys() >= {
        "name",
        "id",
        "tool_calls",
        "invalid_tool_calls",
        "usage_metadata",
        "response_metadata",
    }
    assert json.loads(to_wire_json(AIMessageChunk("y", chunk_position="last")))["chunk_position"] == "last"


def test_an_object_of_an_unknown_kind_is_null() -> None:
    assert json.loads(to_wire_json([object(), Plan, len])) == [None, None, None]


def test_a_circle_says_why_it_has_no_json_form() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(UnserializableValueError, match="circular"):
        to_wire_json(circle)
    assert to_wire_json_or({"event": circle}, {"event": None}) == b'{"event":null}'


def test_what_msgpack_has_no_form_for_is_pickled_with_one_warning_for_its_type() -> None:
    warnings: list[str] = []
    serializer = StateSerializer(warnings.append)
    kind, data = serializer.dumps_typed({"value": range(3)})
    assert (kind, serializer.loads_typed((kind, data))) == ("pickle", {"value": range(3)})
    serializer.dumps_typed({"value": range(4)})
    assert len(warnings) == 1


def test_what_msgpack_has_no_form_for_is_refused_where_pickles_are_off() -> None:
    with pytest.raises(TypeError, match="pickle_fallback"):
        StateSerializer(lambda _: None, pickle_fallback=False).dumps_typed({"value": range(3)})


def test_a_class_comes_back_for_the_graph() -> None:
    serializer = StateSerializer(lambda _: None)
    assert serializer.loads_typed(serializer.dumps_typed(Plan(["a"]))) == Plan(["a"])


@pytest.mark.parametrize("kind", ["dataclass", "model"])
@pytest.mark.parametrize("gone", ["class", "module"])
def test_a_class_that_the_project_has_no_more_is_read_as_plain_data_with_one_warning(
    monkeypatch: pytest.MonkeyPatch, kind: str, gone: str
) -> None:
    class Plan(BaseModel):
        steps: list[str]

    @dataclass
    class Step:
        steps: list[str]

    made: Any = Plan if kind == "model" else Step
    module = ModuleType("earlier_agent")
    made.__module__, made.__qualname__ = module.__name__, "Plan"
    made.__name__ = "Plan"
    module.Plan = made  # type: ignore[attr-defined] # The project's own module.
    monkeypatch.setitem(sys.modules, module.__name__, module)
    warnings: list[str] = []
    serializer = StateSerializer(warnings.append)
    stored = serializer.dumps_typed({"plan": made(steps=["a"]), "message": HumanMessage("hi")})
    assert serializer.loads_typed(stored)["plan"] == made(steps=["a"])
    assert warnings == []
    if gone == "class":
        del module.Plan
    else:
        del sys.modules[module.__name__]
    for _ in range(2):
        assert serializer.loads_typed(stored)["plan"] == {"steps": ["a"]}
    assert warnings == [
        "State names the class earlier_agent.Plan, which the project does not have any more; it is read as plain data."
    ]


def test_pickled_values_are_read_for_clients_only_where_the_project_allows_pickles() -> None:
    stored = ("pickle", pickle.dumps({"count": 1}))
    assert PlainSerializer().loads_typed(stored) == {"count": 1}
    assert PlainSerializer(pickles=False).loads_typed(stored) is None
