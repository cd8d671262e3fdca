"""Imports the graphs of a project, one after the other, in the order of langgraph.json."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..protocol.errors import GraphLoadError
from .load_failure import describe_load_failure
from .loaded_graph import LoadedGraph, Warn
from .project_source import ProjectSource, add_to_path


async def load_graphs(project: Mapping[str, Any], warn: Warn) -> dict[str, LoadedGraph]:
    """Imports in a thread: the event loop answers pings meanwhile.

    Raises GraphLoadError.
    """
    directory: str = project["directory"]
    add_to_path([directory, *project.get("python", {}).get("path", ())])
    graphs: dict[str, LoadedGraph] = {}
    for document in project["graphs"]:
        graphs[document["graphId"]] = await asyncio.to_thread(_load_graph, document, directory, warn)
    return graphs


def _load_graph(document: Mapping[str, Any], directory: str, warn: Warn) -> LoadedGraph:
    graph_id: str = document["graphId"]
    source = ProjectSource.of(document, directory)
    try:
        return LoadedGraph.of(source.import_symbol(), graph_id, source, document.get("description"), warn)
    except BaseException as cause:
        message = describe_load_failure(f'Graph "{graph_id}"', cause, Path(directory))
        raise GraphLoadError(message, graph_id) from cause
