"""Functions of the project that make a graph for each use."""

import inspect
import typing
from collections.abc import Callable
from typing import Any, Literal

from ..protocol.errors import GraphLoadError

Wanted = Literal["config", "runtime"]


def parameters_of(factory: Callable[..., Any], symbol: str) -> dict[str, Wanted]:
    """Returns what to pass by which name.

    A factory takes the config, the runtime, both or none. A single parameter is the config, unless its annotation says
    that it is the runtime.
    """
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):
        return {}
    names = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and (parameter.default is parameter.empty or _is_wanted_by_name(parameter))
    ]
    hints = _hints_of(factory)
    runtimes = [name for name in names if _is_runtime(hints.get(name))]
    if len(names) > 2 or (len(names) == 2 and len(runtimes) != 1):
        raise GraphLoadError(
            f'the export "{symbol}" takes {len(names)} parameters; '
            "a factory takes the config, the runtime, both or none."
        )
    return {name: "runtime" if name in runtimes else "config" for name in names}


def _is_wanted_by_name(parameter: inspect.Parameter) -> bool:
    return parameter.name in ("config", "runtime")


def _hints_of(factory: Callable[..., Any]) -> dict[str, Any]:
    function = factory if inspect.isroutine(factory) else getattr(factory, "__call__", factory)  # noqa: B004
    function = inspect.unwrap(function)
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:
        # Names of annotations may be known to type checkers alone.
        return dict(getattr(function, "__annotations__", {}))


def _is_runtime(annotation: Any) -> bool:
    if annotation is None:
        return False
    if isinstance(annotation, str):
        return "ServerRuntime" in annotation or "_ExecutionRuntime" in annotation or "_ReadRuntime" in annotation
    if typing.get_origin(annotation) is typing.Annotated:
        return _is_runtime(typing.get_args(annotation)[0])
    try:
        from langgraph_sdk import runtime
    except ImportError:
        return False
    known = (runtime.ServerRuntime, runtime._ExecutionRuntime, runtime._ReadRuntime)
    return annotation in known or typing.get_origin(annotation) in known
