"""Values that JSON does not have."""

import datetime
import enum
import ipaddress
import math
import pathlib
import uuid
from collections import deque, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.types import Send
from pydantic import BaseModel
from typing_extensions import TypedDict


class Color(enum.Enum):
    RED = "red"


class Person(BaseModel):
    name: str
    age: int = 36


@dataclass
class Point:
    x: int
    y: int


Pair = namedtuple("Pair", "left right")


class State(TypedDict, total=False):
    values: dict[str, Any]


VALUES = {
    "decimal": Decimal("1.50"),
    "duration": datetime.timedelta(seconds=90),
    "set": {1},
    "tuple": (1, "two"),
    "deque": deque([1, 2]),
    "frozen": frozenset(["x"]),
    "moment": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
    "day": datetime.date(2026, 1, 2),
    "uuid": uuid.UUID(int=7),
    "enum": Color.RED,
    "path": pathlib.PurePosixPath("/a/b"),
    "address": ipaddress.ip_address("192.0.2.1"),
    "bytes": b"\x00\x01",
    "pydantic": Person(name="Ada"),
    "dataclass": Point(1, 2),
    "namedtuple": Pair(1, 2),
    "nan": math.nan,
    "infinity": math.inf,
    "nul": "a\x00b",
    "keys": {1: "one", None: "none", True: "yes"},
    "send": Send("node", {"a": 1}),
    "nested": [{"deep": (Point(3, 4),)}],
    "big": 2**53 + 1,
}

values = (
    StateGraph(State).add_node("make", lambda state: {"values": VALUES}).add_edge(START, "make").compile()
)
