"""The events of mode `messages`: each message as far as it has come while it is streamed."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message

Emit = Callable[[str, Any, str | None], None]


class MessageEvents:
    """Tells the metadata of a message once, then the message with each of its chunks, or a whole one as complete.

    The names of the events have no namespace, as on LangGraph's own server, whichever graph made the message.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        # Messages that have begun, by id, each concatenated from its chunks.
        self._begun: dict[str, BaseMessage] = {}

    def add(self, message: BaseMessage, metadata: dict[str, Any]) -> None:
        message_id = message.id
        if message_id is None:
            return
        before = self._begun.get(message_id)
        whole = message
        if isinstance(before, BaseMessageChunk) and isinstance(message, BaseMessageChunk):
            whole = before + message
        self._begun[message_id] = whole
        if before is None:
            self._emit("messages/metadata", {message_id: {"metadata": metadata}}, None)
        if isinstance(whole, BaseMessageChunk):
            self._emit("messages/partial", [message_chunk_to_message(whole)], f"messages/partial {message_id}")
        else:
            self._emit("messages/complete", [whole], None)
