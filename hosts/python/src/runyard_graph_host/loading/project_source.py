"""Exports of the project's files and modules."""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from ..protocol.errors import GraphLoadError


@dataclass(frozen=True, slots=True)
class ProjectSource:
    """What an entry of langgraph.json names: a file or a dotted module, and a name in it."""

    directory: Path
    file: Path | None
    module: str | None
    symbol: str

    @staticmethod
    def of(document: Mapping[str, Any], directory: str) -> "ProjectSource":
        file, module = document.get("file"), document.get("module")
        return ProjectSource(Path(directory), Path(file) if file and not module else None, module, document["symbol"])

    @property
    def shown(self) -> str:
        """The place as its author knows it."""
        if self.file is None:
            return self.module or ""
        return str(_relative_to(self.file, self.directory))

    def import_symbol(self) -> Any:
        """Imports what the source names.

        Raises GraphLoadError when there is no such file or name; errors of the file itself pass through.
        """
        module = self.import_module()
        found = getattr(module, self.symbol, None)
        if found is None:
            raise GraphLoadError(f'{self.shown} has no "{self.symbol}"; {_suggest(module, self.symbol)}')
        return found

    def import_module(self) -> ModuleType:
        if self.file is None:
            return importlib.import_module(self.module or "")
        if not self.file.is_file():
            raise GraphLoadError(f"{self.shown} does not exist. Correct the path in langgraph.json.")
        name = module_name(self.file, self.directory)
        loaded = sys.modules.get(name)
        if loaded is not None and getattr(loaded, "__file__", None) == str(self.file):
            return loaded
        return _load_file(self.file, name)


def module_name(file: Path, directory: Path) -> str:
    """Returns the name of a file's module: it is stored with values of the file's classes.

    It does not contain the project's folder, which differs from revision to revision.
    """
    relative = _relative_to(file, directory)
    return "__" + "__".join(relative.with_suffix("").parts).replace(" ", "_").lstrip(".").lstrip("_")


def add_to_path(folders: list[str]) -> None:
    """Lets the project import from its folders, after everything that is installed."""
    for folder in folders:
        if folder not in sys.path:
            sys.path.append(folder)


def _load_file(file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise GraphLoadError(f"{file.name} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    # Classes of the file are found by this name, also while it executes.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _relative_to(file: Path, directory: Path) -> Path:
    try:
        return file.relative_to(directory)
    except ValueError:
        return Path(*[part for part in file.parts if part != file.anchor])


def _suggest(module: ModuleType, symbol: str) -> str:
    """Says what the author may have meant: a graph or a builder, by preference one of a similar name."""
    graphs = [name for name, value in vars(module).items() if not name.startswith("_") and _is_graph_like(value)]
    names = graphs or [name for name in vars(module) if not name.startswith("_")]
    if not names:
        return "it has no names at all."
    near = (get_close_matches(symbol, names, 1) or names)[0] if graphs else None
    if near is not None:
        kind = type(vars(module)[near]).__name__
        return f'it has "{near}" (a {kind}). Did you mean that?'
    return f"it has {', '.join(names[:10])}."


def _is_graph_like(value: Any) -> bool:
    return not isinstance(value, type) and (hasattr(value, "compile") or hasattr(value, "aget_state"))
