"""The tools that a graph can call."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..loading.loaded_graph import Graph


def tool_names(graph: Graph) -> list[str]:
    """Returns the names of the tools that its nodes call, each once, those of the graphs inside of it too.

    Tools that the code of a node calls by itself are not found.
    """
    names: dict[str, None] = {}
    seen: set[int] = set()

    def visit(part: object) -> None:
        if id(part) in seen:
            return
        seen.add(id(part))
        # A ToolNode is known by its form, which is the same in all supported versions.
        tools = getattr(part, "tools_by_name", None)
        if isinstance(tools, Mapping):
            names.update((str(name), None) for name in tools)
        for inner in _inside(part):
            visit(inner)

    visit(graph)
    return list(names)


def _inside(part: object) -> Iterable[object]:
    """Returns the nodes of a graph, the runnable and the graphs of a node, and the parts of a sequence."""
    found: list[Any] = [bound] if (bound := getattr(part, "bound", None)) is not None else []
    for name in ("steps", "subgraphs"):
        several = getattr(part, name, None)
        if isinstance(several, list | tuple):
            found.extend(several)
    nodes = getattr(part, "nodes", None)
    if isinstance(nodes, Mapping):
        found.extend(nodes.values())
    return found
