"""Makes the spans of a run: the graph, its nodes, and every call of a model or a tool, each below the one it is in.

Other chains are left out; what they call is below the nearest span.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphBubbleUp

from .message_content import PlainText, role_of, write_instructions, write_messages, write_value
from .model_attributes import ModelCall, read_model_answer, read_model_call
from .span_recorder import Attributes, OpenSpan, SpanRecorder

_HIDDEN = "langsmith:hidden"
_STEP_TAG = re.compile(r"graph:step:(\d+)")


class RunSpans(BaseCallbackHandler):
    # Started out of turn, a child would be begun before its parent.
    run_inline = True

    def __init__(self, request: Mapping[str, Any], parent_span_id: str, recorder: SpanRecorder) -> None:
        self._request = request
        self._root_parent_id = parent_span_id
        self._recorder = recorder
        self._root: OpenSpan | None = None
        self._open: dict[UUID, OpenSpan] = {}
        # For callback runs without a span, the id of the one they are in.
        self._inside: dict[UUID, str] = {}

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        name = more.get("name")
        if self._root is None:
            self._start_root(run_id)
        elif _is_node(name, tags or [], metadata or {}):
            steps = [int(found[1]) for tag in tags or [] if (found := _STEP_TAG.fullmatch(tag))]
            attributes = {"langgraph.node": name, "langgraph.step": steps[0]}
            self._start(run_id, parent_run_id, f"node {name}", "internal", attributes)
        else:
            self._inside[run_id] = self._parent_of(parent_run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, error)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        call = read_model_call("chat", more.get("invocation_params"), metadata)
        span = self._start_model("chat", call, run_id, parent_run_id)
        sent = messages[0] if messages else []
        instructions = [message for message in sent if role_of(message) == "system"]
        others = [message for message in sent if role_of(message) != "system"]
        span.set_content("gen_ai.system_instructions", lambda: write_instructions(instructions))
        span.set_content("gen_ai.input.messages", lambda: write_messages(others))

    def on_llm_start(
        self,
        serialized: Any,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        call = read_model_call("text_completion", more.get("invocation_params"), metadata)
        span = self._start_model("text_completion", call, run_id, parent_run_id)
        span.set_content("gen_ai.input.messages", lambda: write_messages([PlainText(text, "user") for text in prompts]))

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        span = self._open.get(run_id)
        if span is None:
            return
        answer = read_model_answer(response)
        span.attributes.update(answer.attributes)
        span.set_content("gen_ai.output.messages", lambda: write_messages(answer.messages, answer.finish_reason))
        self._end(run_id)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, error)

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        name = more.get("name") or (serialized or {}).get("name") or "tool"
        call_id = more.get("tool_call_id")
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            **({"gen_ai.tool.call.id": call_id} if isinstance(call_id, str) else {}),
        }
        span = self._start(run_id, parent_run_id, f"execute_tool {name}", "internal", attributes)
        span.set_content("gen_ai.tool.call.arguments", lambda: write_value(input_str if inputs is None else inputs))

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        span = self._open.get(run_id)
        if span is None:
            return
        call_id = getattr(output, "tool_call_id", None)
        if isinstance(call_id, str):
            span.attributes["gen_ai.tool.call.id"] = call_id
        span.set_content("gen_ai.tool.call.result", lambda: write_value(getattr(output, "content", output)))
        self._end(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, error)

    def _start_root(self, run_id: UUID) -> None:
        request = self._request
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": request["graphId"],
            "gen_ai.agent.id": request["assistantId"],
            "gen_ai.conversation.id": request["threadId"],
            "session.id": request["threadId"],
            "runyard.run.id": request["runId"],
            "runyard.run.attempt": request["attempt"],
        }
        name = f"invoke_agent {request['graphId']}"
        self._root = self._open[run_id] = self._recorder.start(name, "internal", self._root_parent_id, attributes)

    def _start_model(self, operation: str, call: ModelCall, run_id: UUID, parent_run_id: UUID | None) -> OpenSpan:
        name = operation if call.model is None else f"{operation} {call.model}"
        return self._start(run_id, parent_run_id, name, "client", call.attributes)

    def _start(
        self, run_id: UUID, parent_run_id: UUID | None, name: str, kind: str, attributes: Attributes
    ) -> OpenSpan:
        span = self._recorder.start(name, kind, self._parent_of(parent_run_id), attributes)
        self._open[run_id] = span
        return span

    def _parent_of(self, parent_run_id: UUID | None) -> str:
        if parent_run_id is not None:
            span = self._open.get(parent_run_id)
            if span is not None:
                return span.span_id
            if parent_run_id in self._inside:
                return self._inside[parent_run_id]
        return self._root_parent_id if self._root is None else self._root.span_id

    def _end(self, run_id: UUID, error: BaseException | None = None) -> None:
        self._inside.pop(run_id, None)
        span = self._open.pop(run_id, None)
        if span is None:
            return
        if span is self._root and self._recorder.dropped:
            span.attributes["runyard.run.dropped_spans"] = self._recorder.dropped
        if isinstance(error, GraphBubbleUp):
            span.attributes["langgraph.interrupted"] = True
            error = None
        span.end(None if error is None else {"type": type(error).__name__, "message": write_value(str(error))})


def _is_node(name: Any, tags: Sequence[str], metadata: Mapping[str, Any]) -> bool:
    """Returns whether a chain is a node of a graph: what runs inside a node has its metadata too, but not its name."""
    is_named = name is not None and name == metadata.get("langgraph_node")
    return is_named and _HIDDEN not in tags and any(_STEP_TAG.fullmatch(tag) for tag in tags)
