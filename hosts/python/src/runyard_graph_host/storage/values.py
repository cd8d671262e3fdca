"""Checkpoint operations as messages: a header names each value by type and length, and their bytes follow in order."""

from dataclasses import dataclass, field, replace
from typing import Any

Value = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class CheckpointKey:
    thread_id: str
    # Empty for the root graph.
    namespace: str
    checkpoint_id: str

    def document(self) -> dict[str, str]:
        return {"threadId": self.thread_id, "namespace": self.namespace, "checkpointId": self.checkpoint_id}


@dataclass(frozen=True, slots=True)
class PendingWrite:
    task_id: str
    channel: str
    value: Value


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    key: CheckpointKey
    parent_checkpoint_id: str | None
    checkpoint: Value
    metadata: Value
    channel_values: dict[str, Value]
    pending_writes: list[PendingWrite]
    # Interrupts and answers before the reading run wrote any here; None where it has written none.
    interrupts_before_run: list[PendingWrite] | None = None

    def with_pending_writes(self, writes: list[PendingWrite]) -> "StoredCheckpoint":
        return replace(self, pending_writes=writes)


@dataclass(frozen=True, slots=True)
class CheckpointPut:
    key: CheckpointKey
    parent_checkpoint_id: str | None
    checkpoint: Value
    metadata: Value
    metadata_json: dict[str, Any]
    channel_versions: dict[str, str]
    # Channel, version and value of what this checkpoint writes; a channel without a value is empty.
    blobs: list[tuple[str, str, Value | None]]

    def pack(self) -> tuple[dict[str, Any], list[bytes]]:
        parts = _Parts()
        document: dict[str, Any] = {
            "key": self.key.document(),
            "checkpoint": parts.add(self.checkpoint),
            "metadata": parts.add(self.metadata),
            "metadataJson": self.metadata_json,
            "channelVersions": self.channel_versions,
            "blobs": [
                {"channel": channel, "version": version, **({} if value is None else {"value": parts.add(value)})}
                for channel, version, value in self.blobs
            ],
        }
        if self.parent_checkpoint_id is not None:
            document["parentCheckpointId"] = self.parent_checkpoint_id
        return document, parts.bytes


@dataclass(frozen=True, slots=True)
class WritesPut:
    key: CheckpointKey
    task_id: str
    task_path: str
    # Index, channel and value. The index is negative for the special channels, where the last write wins.
    writes: list[tuple[int, str, Value]]

    def pack(self) -> tuple[dict[str, Any], list[bytes]]:
        parts = _Parts()
        document = {
            "key": self.key.document(),
            "taskId": self.task_id,
            "taskPath": self.task_path,
            "writes": [
                {"index": index, "channel": channel, "value": parts.add(value)} for index, channel, value in self.writes
            ],
        }
        return document, parts.bytes


@dataclass(slots=True)
class _Parts:
    bytes: list[bytes] = field(default_factory=list)

    def add(self, value: Value) -> tuple[str, int]:
        kind, data = value
        self.bytes.append(data)
        return kind, len(data)


class ValueReader:
    """Takes values one after the other from the raw bytes of a message."""

    def __init__(self, raw: memoryview) -> None:
        self._raw = raw
        self._position = 0

    def take(self, ref: tuple[str, int]) -> Value:
        kind, length = ref
        end = self._position + length
        if length < 0 or end > len(self._raw):
            raise ValueError("a value reaches past its message")
        data = bytes(self._raw[self._position : end])
        self._position = end
        return kind, data

    def take_write(self, document: dict[str, Any]) -> PendingWrite:
        return PendingWrite(document["taskId"], document["channel"], self.take(document["value"]))


def unpack_stored(documents: list[dict[str, Any]], raw: memoryview) -> list[StoredCheckpoint]:
    reader = ValueReader(raw)
    return [_unpack_one(document, reader) for document in documents]


def _unpack_one(document: dict[str, Any], reader: ValueReader) -> StoredCheckpoint:
    key = document["key"]
    before_run = document.get("interruptsBeforeRun")
    return StoredCheckpoint(
        key=CheckpointKey(key["threadId"], key["namespace"], key["checkpointId"]),
        parent_checkpoint_id=document.get("parentCheckpointId"),
        checkpoint=reader.take(document["checkpoint"]),
        metadata=reader.take(document["metadata"]),
        channel_values={entry["channel"]: reader.take(entry["value"]) for entry in document["channelValues"]},
        pending_writes=[reader.take_write(write) for write in document["pendingWrites"]],
        interrupts_before_run=None if before_run is None else [reader.take_write(write) for write in before_run],
    )


@dataclass(frozen=True, slots=True)
class ChannelHistory:
    channel: str
    seed: Value | None
    writes: list[PendingWrite]


def unpack_histories(documents: list[dict[str, Any]], raw: memoryview) -> list[ChannelHistory]:
    reader = ValueReader(raw)
    return [
        ChannelHistory(
            document["channel"],
            reader.take(document["seed"]) if "seed" in document else None,
            [reader.take_write(write) for write in document["writes"]],
        )
        for document in documents
    ]
