"""Messages by their content blocks, which LangGraph streams from 1.2 on."""

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage

STREAMS_BLOCKS_KEY: str | None
try:
    from langgraph._internal._constants import CONFIG_KEY_STREAM_MESSAGES_V2 as STREAMS_BLOCKS_KEY
except ImportError:
    STREAMS_BLOCKS_KEY = None


class EventProtocolError(Exception):
    """The project's LangGraph is too old for the event protocol."""

    def __init__(self) -> None:
        super().__init__("The event protocol (version 2 of streams) needs langgraph 1.2 or newer in the project.")


def events_of_message(data: Any) -> Iterable[Any]:
    """Returns the events of a message that a node returned whole; a streamed one comes as such events.

    What tools return has events of its own.
    """
    if not isinstance(data, BaseMessage):
        return [data]
    if isinstance(data, AIMessageChunk | ToolMessage):
        return []
    from langchain_core.language_models._compat_bridge import message_to_events

    return message_to_events(data, message_id=data.id)
