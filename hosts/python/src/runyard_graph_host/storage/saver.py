"""LangGraph's checkpoint saver over the parent's storage."""

import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from ..serialization.plain_json import to_plain_json
from .known_versions import KnownVersions
from .portal import Portal
from .remote_checkpoints import RemoteCheckpoints
from .values import CheckpointKey, CheckpointPut, PendingWrite, StoredCheckpoint, Value, WritesPut

# Number of checkpoints per request at most.
_PAGE = 50
# LangGraph for JavaScript stores JSON, and that for Python never stored checkpoints as such here.
_TYPE_OF_OTHER_LANGUAGES = "json"


class UnstorableValueError(Exception):
    """A value of the state cannot be stored."""


class OtherLanguageError(Exception):
    """A graph in another language has made the checkpoint."""

    def __init__(self) -> None:
        super().__init__("The thread's state was written by a JavaScript graph; a Python graph cannot continue it.")


class RunyardSaver(BaseCheckpointSaver[str]):
    """The saver of one use of a graph.

    - Only changed channels are sent to storage; the others are inherited from the parent checkpoint.
    - Puts and writes are sent in the order in which LangGraph calls them, at the first step of the call.
    - After a value that cannot be stored nothing more is: a later checkpoint would miss it.
    """

    def __init__(
        self,
        checkpoints: RemoteCheckpoints,
        portal: Portal,
        serde: SerializerProtocol,
        *,
        metadata: Mapping[str, Any] | None = None,
        is_hidden: Callable[[Mapping[str, Any]], bool] | None = None,
        unneeded: Sequence[str] = (),
    ) -> None:
        super().__init__(serde=serde)
        self._checkpoints = checkpoints
        self._portal = portal
        # What every checkpoint of the use has among its metadata.
        self._metadata = metadata or {}
        # Says by its metadata whether a checkpoint is passed over, for its parent.
        self._is_hidden = is_hidden
        # Channels whose values listed checkpoints do not need.
        self._unneeded = list(unneeded)
        self._known = KnownVersions()
        self._failures: list[BaseException] = []

    # What LangGraph calls in async code.

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._portal.run(self._get_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        async for page in self._pages(config, filter, before, limit):
            for found in page:
                yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._portal.run(self._put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._portal.run(self._put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._portal.run(self._checkpoints.delete_thread(thread_id))

    async def aget_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, Any]:
        return await self._portal.run(self._channel_history(config, channels))

    # The same for threads.

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._portal.call(self._get_tuple(config), "get_tuple")

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        pages = self._pages(config, filter, before, limit)

        async def next_page() -> Sequence[CheckpointTuple] | None:
            return await anext(pages, None)

        while (page := self._portal.call(next_page(), "list")) is not None:
            yield from page

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self._portal.call(self._put(config, checkpoint, metadata, new_versions), "put")

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._portal.call(self._put_writes(config, writes, task_id, task_path), "put_writes")

    def delete_thread(self, thread_id: str) -> None:
        self._portal.call(self._checkpoints.delete_thread(thread_id), "delete_thread")

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, Any]:
        return self._portal.call(self._channel_history(config, channels), "get_delta_channel_history")

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Returns a text that sorts behind the current version, and differs from those of other branches."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"  # noqa: S311 - it only tells branches apart

    # What both do.

    async def _get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        place = config.get("configurable", {})
        thread_id = place.get("thread_id")
        if thread_id is None:
            return None
        namespace = place.get("checkpoint_ns") or ""
        stored = await self._checkpoints.get(str(thread_id), namespace, place.get("checkpoint_id") or None)
        found = None if stored is None else self._tuple_of(stored)
        while found is not None and self._is_hidden is not None and self._is_hidden(found.metadata):
            parent = found.parent_config
            if parent is None:
                return None
            stored = await self._checkpoints.get(str(thread_id), namespace, parent["configurable"]["checkpoint_id"])
            found = None if stored is None else self._tuple_of(stored)
        return found

    async def _pages(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> AsyncIterator[Sequence[CheckpointTuple]]:
        place = (config or {}).get("configurable", {})
        thread_id = place.get("thread_id")
        query: dict[str, Any] = {}
        for key, value in (
            ("threadId", None if thread_id is None else str(thread_id)),
            ("namespace", place.get("checkpoint_ns")),
            ("checkpointId", place.get("checkpoint_id") or None),
            ("beforeCheckpointId", ((before or {}).get("configurable", {})).get("checkpoint_id") or None),
            ("filter", filter),
            ("withoutValuesOf", self._unneeded or None),
        ):
            if value is not None:
                query[key] = value
        left = limit
        while left is None or left > 0:
            query["limit"] = _PAGE if left is None else min(left, _PAGE)
            page = await self._portal.run(self._checkpoints.find(dict(query)))
            # A page may end before its limit, as large checkpoints come a few at a time.
            if not page:
                return
            yield [self._tuple_of(stored) for stored in page]
            left = None if left is None else left - len(page)
            query["after"] = page[-1].key.document()

    async def _put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self._refuse_after_failure()
        place = config["configurable"]
        namespace: str = place.get("checkpoint_ns") or ""
        key = CheckpointKey(str(place["thread_id"]), namespace, checkpoint["id"])
        parent_id: str | None = place.get("checkpoint_id") or None
        put = self._make_put(key, parent_id, checkpoint, {**self._metadata, **metadata}, new_versions)
        self._known.remember(key, put.channel_versions)
        await self._checkpoints.put(put)
        return _config_of(key.thread_id, namespace, key.checkpoint_id)

    async def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> None:
        self._refuse_after_failure()
        place = config["configurable"]
        key = CheckpointKey(str(place["thread_id"]), place.get("checkpoint_ns") or "", place["checkpoint_id"])
        rows = [
            (WRITES_IDX_MAP.get(channel, position), channel, self._dump(channel, value))
            for position, (channel, value) in enumerate(writes)
        ]
        await self._checkpoints.put_writes(WritesPut(key, task_id, task_path, rows))

    async def _channel_history(self, config: RunnableConfig, channels: Sequence[str]) -> dict[str, Any]:
        place = config["configurable"]
        channels = [channel for channel in channels if channel not in self._unneeded]
        if not channels:
            return {}
        key = CheckpointKey(str(place["thread_id"]), place.get("checkpoint_ns") or "", place["checkpoint_id"])
        histories: dict[str, Any] = {}
        for history in await self._checkpoints.channel_histories(key, channels):
            found: dict[str, Any] = {"writes": _load_writes(self.serde, history.writes)}
            if history.seed is not None:
                found["seed"] = self.serde.loads_typed(history.seed)
            histories[history.channel] = found
        return histories

    def _make_put(
        self,
        key: CheckpointKey,
        parent_id: str | None,
        checkpoint: Checkpoint,
        metadata: dict[str, Any],
        new_versions: ChannelVersions,
    ) -> CheckpointPut:
        values = checkpoint["channel_values"]
        versions = {channel: str(version) for channel, version in checkpoint["channel_versions"].items()}
        stored = {channel: str(version) for channel, version in new_versions.items()}
        # A copy of a checkpoint is put beside it, under the same parent and with no changed channel: its values differ
        # from its parent's.
        if parent_id is not None or metadata.get("source") == "fork":
            parent_key = CheckpointKey(key.thread_id, key.namespace, parent_id or "")
            inherited = self._known.of(parent_key) or {}
            for channel in values:
                if channel not in stored and channel in versions and inherited.get(channel) != versions[channel]:
                    stored[channel] = versions[channel]
        return CheckpointPut(
            key=key,
            parent_checkpoint_id=parent_id,
            checkpoint=self.serde.dumps_typed({**checkpoint, "channel_values": {}}),
            metadata=self.serde.dumps_typed(metadata),
            metadata_json=to_plain_json(metadata),
            channel_versions=versions,
            blobs=[
                (channel, version, self._dump(channel, values[channel]) if channel in values else None)
                for channel, version in stored.items()
            ],
        )

    def _tuple_of(self, stored: StoredCheckpoint) -> CheckpointTuple:
        key = stored.key
        if stored.checkpoint[0] == _TYPE_OF_OTHER_LANGUAGES:
            raise OtherLanguageError
        checkpoint = cast(Checkpoint, self.serde.loads_typed(stored.checkpoint))
        checkpoint["channel_values"] = {
            channel: self.serde.loads_typed(value) for channel, value in stored.channel_values.items()
        }
        self._known.remember(
            key, {channel: str(version) for channel, version in checkpoint["channel_versions"].items()}
        )
        parent_id = stored.parent_checkpoint_id
        return CheckpointTuple(
            config=_config_of(key.thread_id, key.namespace, key.checkpoint_id),
            checkpoint=checkpoint,
            metadata=cast(CheckpointMetadata, self.serde.loads_typed(stored.metadata)),
            parent_config=None if parent_id is None else _config_of(key.thread_id, key.namespace, parent_id),
            pending_writes=_load_writes(self.serde, stored.pending_writes),
        )

    def _dump(self, channel: str, value: Any) -> Value:
        try:
            return self.serde.dumps_typed(value)
        except Exception as cause:
            failure = UnstorableValueError(f'A value of channel "{channel}" cannot be stored: {cause}')
            failure.__cause__ = cause
            self._failures.append(failure)
            raise failure from cause

    def _refuse_after_failure(self) -> None:
        if self._failures:
            raise self._failures[0]


def _load_writes(serde: SerializerProtocol, writes: list[PendingWrite]) -> list[tuple[str, str, Any]]:
    return [(write.task_id, write.channel, serde.loads_typed(write.value)) for write in writes]


def _config_of(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}
