"""Counts the models and tools that a run calls, from the callbacks of LangChain."""

import threading
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphBubbleUp

from ..protocol.connection import HostConnection
from ..spans.model_attributes import read_model_answer, read_model_call

# Characters of the name of a model, a provider or a tool.
_NAME_MAX = 200
# Models, and tools, that are counted apart; those that come later count as `other`.
_NAMES_MAX = 50
# Seconds between reports of a run that writes no checkpoint meanwhile.
_REPORT_AFTER = 1.0
_OTHER = "other"
_UNKNOWN = "unknown"

Counts = dict[str, Any]


class RunUsage(BaseCallbackHandler):
    """Calls begin and end in any thread."""

    # A call that has ended is counted before the checkpoint of its step.
    run_inline = True
    ignore_chain = True
    ignore_retriever = True
    ignore_custom_event = True

    def __init__(self, connection: HostConnection, use: int) -> None:
        self._connection = connection
        self._use = use
        self._models: dict[tuple[str, str], Counts] = {}
        self._tools: dict[str, Counts] = {}
        # The counts that each call under way belongs to, by its callback run.
        self._calls: dict[UUID, Counts] = {}
        self._has_changed = False
        self._lock = threading.Lock()

    def report(self) -> None:
        """Sends what has been used so far, if it has changed. Belongs to the thread of the event loop."""
        with self._lock:
            if not self._has_changed:
                return
            self._has_changed = False
            usage = {
                "models": [dict(counts) for counts in self._models.values()],
                "tools": [dict(counts) for counts in self._tools.values()],
            }
        self._connection.send(self._use, {"t": "run.usage", "use": self._use, "usage": usage})

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: UUID, metadata: dict[str, Any] | None = None, **more: Any
    ) -> None:
        self._start_model(run_id, more.get("invocation_params"), metadata)

    def on_llm_start(
        self, serialized: Any, prompts: Any, *, run_id: UUID, metadata: dict[str, Any] | None = None, **more: Any
    ) -> None:
        self._start_model(run_id, more.get("invocation_params"), metadata)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        attributes = read_model_answer(response).attributes

        def tokens(name: str) -> int:
            return _count_of(attributes.get(f"gen_ai.usage.{name}"))

        self._end(
            run_id,
            inputTokens=tokens("input_tokens"),
            outputTokens=tokens("output_tokens"),
            cacheReadTokens=tokens("cache_read.input_tokens"),
            cacheCreationTokens=tokens("cache_creation.input_tokens"),
            reasoningTokens=tokens("reasoning.output_tokens"),
        )

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._fail(run_id, error)

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: UUID, **more: Any) -> None:
        name = _name_of((serialized or {}).get("name") or more.get("name") or "tool")
        with self._lock:
            key = name if name in self._tools or len(self._tools) < _NAMES_MAX else _OTHER
            self._calls[run_id] = self._tools.setdefault(key, {"name": key, "calls": 0, "failed": 0})

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._fail(run_id, error)

    def _start_model(self, run_id: UUID, invocation: Any, metadata: Any) -> None:
        call = read_model_call("chat", invocation, metadata)
        key = (_name_of(call.attributes.get("gen_ai.provider.name")), _name_of(call.model))
        with self._lock:
            if key not in self._models and len(self._models) >= _NAMES_MAX:
                key = (_OTHER, _OTHER)
            if key not in self._models:
                self._models[key] = {
                    "provider": key[0],
                    "model": key[1],
                    "calls": 0,
                    "failed": 0,
                    "inputTokens": 0,
                    "outputTokens": 0,
                    "cacheReadTokens": 0,
                    "cacheCreationTokens": 0,
                    "reasoningTokens": 0,
                }
            self._calls[run_id] = self._models[key]

    def _fail(self, run_id: UUID, error: BaseException) -> None:
        # Whoever asks a question has not failed.
        self._end(run_id, failed=0 if isinstance(error, GraphBubbleUp) else 1)

    def _end(self, run_id: UUID, **more: int) -> None:
        """Counts a call that has ended, unless its start was not seen."""
        with self._lock:
            counts = self._calls.pop(run_id, None)
            if counts is None:
                return
            for name, count in {"calls": 1, **more}.items():
                counts[name] += count
            is_first, self._has_changed = not self._has_changed, True
        if is_first:
            self._connection.call_later(_REPORT_AFTER, self.report)


def _name_of(value: Any) -> str:
    return value[:_NAME_MAX] if isinstance(value, str) and value else _UNKNOWN


def _count_of(value: Any) -> int:
    """Models are code of projects, which may report anything."""
    return min(round(value), 1_000_000_000) if isinstance(value, int | float) and value > 0 else 0
