"""A chat model without a provider: what it says is written where it is used."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class RuledModel(BaseChatModel):
    """Answers by a rule, which sees the whole conversation."""

    rule: Callable[[Sequence[BaseMessage]], AIMessage]

    @property
    def _llm_type(self) -> str:
        return "ruled"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> "RuledModel":
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.rule(messages))])

    def _stream(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        """Gives a call whole, and a text word by word."""
        answer = self.rule(messages)
        if answer.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk(**answer.model_dump(exclude={"type"})))
            return
        for word in str(answer.content).split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))


def call(tool: str, **args: Any) -> AIMessage:
    """Returns a message that asks for a tool. A conversation asks for each but once."""
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": f"call-{tool}", "type": "tool_call"}])


def results(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Returns what tools have answered, by their names."""
    return {str(message.name): str(message.content) for message in messages if message.type == "tool"}


def question(messages: Sequence[BaseMessage]) -> str:
    """Returns what a person said last."""
    return next(str(message.content) for message in reversed(messages) if message.type == "human")
