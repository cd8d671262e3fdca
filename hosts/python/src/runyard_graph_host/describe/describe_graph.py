"""Describes graphs for assistants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from ..langgraph.names import RUNTIME_KEY
from ..loading.loaded_graph import GraphUse, LoadedGraph
from ..loading.project_user import user_of
from ..protocol.connection import HostConnection
from ..storage.portal import Portal
from ..storage.store import RunyardStore
from .schemas import input_keys, schemas_of
from .tool_names import tool_names

Request = Mapping[str, Any]

# Descriptions read no store; a factory that does is answered that the use is not known.
_NO_USE = 1


@dataclass(frozen=True, slots=True)
class GraphDescriber:
    connection: HostConnection
    portal: Portal

    async def draw(self, graph: LoadedGraph, request: Request) -> dict[str, Any]:
        use = self._use_of(request)
        async with graph.use(use) as compiled:
            config: Any = {
                **use.config,
                "configurable": {**use.config["configurable"], RUNTIME_KEY: Runtime(store=use.store)},
            }
            drawing: dict[str, Any] = (await compiled.aget_graph(config, xray=request["xray"])).to_json()
        for node in drawing["nodes"]:
            if isinstance(node.get("data"), dict):
                node["data"].pop("id", None)
        return drawing

    async def input_keys(self, graph: LoadedGraph, request: Request) -> list[str] | None:
        async with graph.use(self._use_of(request)) as compiled:
            return input_keys(compiled)

    async def tools(self, graph: LoadedGraph, request: Request) -> list[str]:
        async with graph.use(self._use_of(request)) as compiled:
            return tool_names(compiled)

    async def schemas(self, graph: LoadedGraph, request: Request) -> dict[str, Any]:
        async with graph.use(self._use_of(request)) as compiled:
            return schemas_of(compiled)

    async def subgraphs(self, graph: LoadedGraph, request: Request) -> dict[str, Any]:
        async with graph.use(self._use_of(request)) as compiled:
            found = compiled.aget_subgraphs(namespace=request.get("namespace"), recurse=request["recurse"])
            return {name: schemas_of(inner) async for name, inner in found}  # type: ignore[arg-type] # It is a graph.

    def _use_of(self, request: Request) -> GraphUse:
        config = request["config"]
        configurable = dict(config["configurable"])
        user = user_of(configurable)
        if user is not None:
            configurable["langgraph_auth_user"] = user
        store = RunyardStore(self.connection, _NO_USE, self.portal)
        return GraphUse("assistants.read", {**config, "configurable": configurable}, store, user)
