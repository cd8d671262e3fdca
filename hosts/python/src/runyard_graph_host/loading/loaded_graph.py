"""A graph of the project, ready for any number of uses."""

import inspect
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore

from ..protocol.errors import GraphLoadError
from .factories import Wanted, parameters_of
from .project_source import ProjectSource
from .project_user import ProjectUser

AccessContext = Literal["threads.create_run", "threads.update", "threads.read", "assistants.read"]
Graph = Pregel[Any, Any, Any, Any]
Warn = Callable[[str], None]

# Seconds that a factory may take for each use before its author hears about it.
_SLOW_FACTORY = 0.1


@dataclass(frozen=True, slots=True)
class GraphUse:
    """Tells a factory what the graph is made for, so that it can skip what a mere description does not need."""

    access: AccessContext
    config: Mapping[str, Any]
    store: BaseStore
    user: ProjectUser | None = None
    context: Any = None


@dataclass(slots=True)
class LoadedGraph:
    graph_id: str
    source: ProjectSource
    description: str | None
    warn: Warn
    # What the project exports: a graph that all uses share, or what makes one.
    _shared: Graph | None = None
    _factory: Callable[..., Any] | None = None
    _parameters: dict[str, Wanted] = field(default_factory=dict)
    _has_warned: set[str] = field(default_factory=set)

    @property
    def is_factory(self) -> bool:
        return self._factory is not None

    @staticmethod
    def of(exported: Any, graph_id: str, source: ProjectSource, description: str | None, warn: Warn) -> "LoadedGraph":
        loaded = LoadedGraph(graph_id, source, description, warn)
        if isinstance(exported, Pregel) or _is_builder(exported) or not callable(exported):
            loaded._shared = loaded._prepare(exported)
        else:
            loaded._factory = exported
            loaded._parameters = parameters_of(exported, source.symbol)
        return loaded

    @asynccontextmanager
    async def use(self, use: GraphUse) -> AsyncIterator[Graph]:
        """Gives the graph for one use. What a factory opens for it is closed after it."""
        if self._shared is not None:
            yield self._shared
            return
        begun = time.perf_counter()
        made = await self._make(use)
        if isinstance(made, Pregel) or _is_builder(made):
            self._tell_slowness(begun)
            yield self._prepare(made)
        elif hasattr(made, "__aenter__"):
            async with made as graph:
                self._tell_slowness(begun)
                yield self._prepare(graph)
        elif hasattr(made, "__enter__"):
            with made as graph:
                self._tell_slowness(begun)
                yield self._prepare(graph)
        else:
            yield self._prepare(made)

    async def _make(self, use: GraphUse) -> Any:
        given: dict[str, Any] = {}
        for name, wanted in self._parameters.items():
            given[name] = use.config if wanted == "config" else _runtime_of(use)
        assert self._factory is not None
        made = self._factory(**given)
        return await made if inspect.isawaitable(made) else made

    def _prepare(self, value: Any) -> Graph:
        """Takes away a saver or store of the graph's own: each use passes the platform's by its config."""
        if _is_builder(value):
            value = value.compile()
        if not isinstance(value, Pregel):
            raise GraphLoadError(
                f'the export "{self.source.symbol}" is a {type(value).__name__}, not a graph, a builder or a function '
                f"that returns one.{_advice_for(value)}"
            )
        own = [name for name in ("checkpointer", "store") if getattr(value, name, None) not in (None, True, False)]
        if own:
            parts = " and ".join(own)
            self._warn_once(
                f'Graph "{self.graph_id}" is compiled with its own {parts}; the platform\'s is used instead.'
            )
        changes: dict[str, Any] = {"checkpointer": None, "store": None}
        if getattr(value, "name", None) in (None, "LangGraph"):
            changes["name"] = self.graph_id
        graph: Graph = value.copy(changes)
        return graph

    def _tell_slowness(self, begun: float) -> None:
        seconds = time.perf_counter() - begun
        if seconds > _SLOW_FACTORY:
            self._warn_once(
                f'The factory of graph "{self.graph_id}" takes {seconds * 1000:.0f} ms, for each run and each reading '
                "of state: what it opens can be made once, when its file is imported."
            )

    def _warn_once(self, message: str) -> None:
        kind = message.split(";")[0][:40]
        if kind not in self._has_warned:
            self._has_warned.add(kind)
            self.warn(message)


def _is_builder(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "compile") and hasattr(value, "add_node")


def _advice_for(value: Any) -> str:
    return " Call it in a node of a graph." if type(value).__name__ == "RemoteGraph" else ""


def _runtime_of(use: GraphUse) -> Any:
    from langgraph_sdk.runtime import _ExecutionRuntime, _ReadRuntime

    if use.access == "threads.create_run":
        return _ExecutionRuntime(access_context=use.access, user=use.user, store=use.store, context=use.context)
    return _ReadRuntime(access_context=use.access, user=use.user, store=use.store)
