"""The project's user whose request something is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class ProjectUser:
    """Has the fields of a user as attributes and as items, as code for LangGraph's own server expects."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    @property
    def identity(self) -> str:
        return str(self._fields.get("identity", ""))

    @property
    def display_name(self) -> str:
        return str(self._fields.get("display_name") or self.identity)

    @property
    def is_authenticated(self) -> bool:
        return bool(self._fields.get("is_authenticated", True))

    @property
    def permissions(self) -> Sequence[str]:
        permissions: Sequence[str] = self._fields.get("permissions") or []
        return permissions

    def dict(self) -> dict[str, Any]:
        return dict(self._fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"the user has no {name!r}") from None

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __contains__(self, key: object) -> bool:
        return key in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"ProjectUser(identity={self.identity!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProjectUser) and other._fields == self._fields

    __hash__ = None  # type: ignore[assignment] # Users are compared by their fields, which may change.

    def get(self, key: str, default: Any = None) -> Any:
        return self._fields.get(key, default)

    def keys(self) -> Sequence[str]:
        return list(self._fields)


def user_of(configurable: Mapping[str, Any]) -> ProjectUser | None:
    fields = configurable.get("langgraph_auth_user")
    return ProjectUser(fields) if isinstance(fields, Mapping) else None
