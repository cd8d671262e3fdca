"""Commands of clients as those of LangGraph."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import Command, Send


def to_command(command: Mapping[str, Any]) -> Command[Any]:
    fields: dict[str, Any] = {}
    if command.get("resume") is not None:
        fields["resume"] = command["resume"]
    if command.get("update") is not None:
        fields["update"] = _to_update(command["update"])
    goto = command.get("goto")
    if goto is not None:
        fields["goto"] = [_to_target(target) for target in (goto if isinstance(goto, list) else [goto])]
    return Command(**fields)


def _to_target(target: Any) -> Any:
    """Returns a node's name, or a `Send` for `{node, input}`, which starts the node with its own input."""
    if not isinstance(target, Mapping) or "node" not in target:
        return target
    given = target.get("input")
    return Send(target["node"], target.get("arg", target.get("args")) if given is None else given)


def _to_update(update: Any) -> Any:
    """Returns pairs as such: JSON has no tuples."""
    if isinstance(update, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in update):
        return [tuple(pair) for pair in update]
    return update
