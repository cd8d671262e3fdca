"""Versions of the channels of the checkpoints that a saver loaded or stored last."""

from collections import OrderedDict
from collections.abc import Mapping

from .values import CheckpointKey

_CHECKPOINTS_KEPT = 64


class KnownVersions:
    """A new checkpoint may leave a channel to be inherited only when its parent is known to have that version."""

    def __init__(self) -> None:
        self._versions: OrderedDict[CheckpointKey, Mapping[str, str]] = OrderedDict()

    def remember(self, key: CheckpointKey, versions: Mapping[str, str]) -> None:
        self._versions[key] = versions
        self._versions.move_to_end(key)
        if len(self._versions) > _CHECKPOINTS_KEPT:
            self._versions.popitem(last=False)

    def of(self, key: CheckpointKey) -> Mapping[str, str] | None:
        return self._versions.get(key)
