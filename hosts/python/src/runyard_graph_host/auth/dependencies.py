"""Parameters of a handler that FastAPI fills: `Depends(…)` as a default, or in an annotation."""

import inspect
import typing
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any


class Dependencies:
    """Solves the dependencies of one handler for each request."""

    def __init__(self, handler: Callable[..., Any], is_other: Callable[[str], bool]) -> None:
        found = [each for each in _annotated_parameters(handler) if not is_other(each.name) and _is_dependency(each)]
        self.names = frozenset(parameter.name for parameter in found)
        self._dependant = _describe(found) if found else None

    @asynccontextmanager
    async def solve(self, make_request: Callable[[], Any]) -> AsyncIterator[dict[str, Any]]:
        """Gives values by name. What yields them is closed after the handler."""
        if self._dependant is None:
            yield {}
            return
        from fastapi.dependencies.utils import solve_dependencies
        from starlette.exceptions import HTTPException

        request = make_request()
        async with AsyncExitStack() as stack:
            for name in ("fastapi_astack", "fastapi_inner_astack", "fastapi_function_astack"):
                request.scope[name] = stack
            solved = await solve_dependencies(
                request=request, dependant=self._dependant, async_exit_stack=stack, embed_body_fields=False
            )
            if solved.errors:
                faults = [f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in solved.errors]
                raise HTTPException(422, "; ".join(faults))
            yield solved.values


def _annotated_parameters(handler: Callable[..., Any]) -> list[inspect.Parameter]:
    parameters = inspect.signature(handler).parameters.values()
    try:
        hints = typing.get_type_hints(handler, include_extras=True)
    except Exception:
        # Names of annotations may be known to type checkers alone.
        hints = {}
    return [parameter.replace(annotation=hints.get(parameter.name, parameter.annotation)) for parameter in parameters]


def _is_dependency(parameter: inspect.Parameter) -> bool:
    try:
        from fastapi.params import Depends
    except ImportError:
        return False
    return any(
        isinstance(each, Depends) for each in (parameter.default, *getattr(parameter.annotation, "__metadata__", ()))
    )


def _describe(parameters: list[inspect.Parameter]) -> Any:
    from fastapi.dependencies.utils import get_dependant

    def handler() -> None: ...

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    handler.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined] # Python reads it from here.
    return get_dependant(path="/", call=handler)
