"""A chat model that needs no key: a function decides where a neural network would, so it answers the same every time.

Everything around it sees a chat model like any other. Remove this file once you use a real one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class FakeModel(BaseChatModel):
    """Says what `decide` returns for the conversation: a text, or a tool with its arguments."""

    decide: Callable[[Sequence[BaseMessage]], str | tuple[str, dict[str, Any]]]

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> "FakeModel":
        """The function knows the tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        step = self.decide(messages)
        message = AIMessage(step) if isinstance(step, str) else AIMessage("", tool_calls=[_call(step, messages)])
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        """Streams a text word by word, and a call whole."""
        step = self.decide(messages)
        if not isinstance(step, str):
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=[_call(step, messages)]))
            return
        words = step.split(" ")
        for position, word in enumerate(words):
            text = word if position == len(words) - 1 else f"{word} "
            yield ChatGenerationChunk(message=AIMessageChunk(text))


def last_question(messages: Sequence[BaseMessage]) -> str:
    """Returns what a person said last."""
    return next((message.text for message in reversed(messages) if message.type == "human"), "")


def tool_answers(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Returns what tools have answered since then, by the name of the tool."""
    asked = max((at for at, message in enumerate(messages) if message.type == "human"), default=-1)
    return {str(message.name): message.text for message in messages[asked + 1 :] if message.type == "tool"}


def _call(step: tuple[str, dict[str, Any]], messages: Sequence[BaseMessage]) -> dict[str, Any]:
    # The id only has to differ within the conversation.
    return {"name": step[0], "args": step[1], "id": f"call_{len(messages)}", "type": "tool_call"}
