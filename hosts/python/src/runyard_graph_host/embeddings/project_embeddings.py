"""Vectors of texts by an export of the project, or by a model of a provider whose package the project has."""

import array
import asyncio
import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from langchain_core.embeddings import Embeddings

from ..loading.project_source import ProjectSource
from ..protocol.errors import GraphLoadError


class TextEmbedder(Protocol):
    async def __call__(self, texts: list[str], purpose: str, /) -> Sequence[Sequence[float]]: ...


def open_embeddings(source: Mapping[str, Any], directory: str) -> TextEmbedder:
    if source["kind"] == "provider":
        found, name = _of_provider(source["provider"], source["model"]), source["provider"]
    else:
        found, name = ProjectSource.of(source, directory).import_symbol(), f'The export "{source["symbol"]}"'
    if isinstance(found, Embeddings):
        return _by_model(found)
    if callable(found):
        return _by_function(found)
    raise GraphLoadError(f"{name} is neither a function of texts nor LangChain embeddings.")


def pack_vectors(vectors: Sequence[Sequence[float]]) -> tuple[list[int], list[bytes]]:
    """Returns the length of each vector, and the vectors as four-byte little-endian floats."""
    parts = []
    for vector in vectors:
        numbers = array.array("f", vector)
        if sys.byteorder == "big":
            numbers.byteswap()
        parts.append(numbers.tobytes())
    return [len(vector) for vector in vectors], parts


def _by_model(model: Embeddings) -> TextEmbedder:
    async def embed(texts: list[str], purpose: str) -> Sequence[Sequence[float]]:
        if purpose == "query":
            return await asyncio.gather(*(model.aembed_query(text) for text in texts))
        return await model.aembed_documents(texts)

    return embed


def _by_function(function: Any) -> TextEmbedder:
    async def embed(texts: list[str], _purpose: str) -> Sequence[Sequence[float]]:
        if inspect.iscoroutinefunction(function):
            found = await function(texts)
        else:
            found = await asyncio.to_thread(function, texts)
        vectors: Sequence[Sequence[float]] = await found if inspect.isawaitable(found) else found
        return vectors

    return embed


def _of_provider(provider: str, model: str) -> Any:
    try:
        from langchain.embeddings import init_embeddings
    except ImportError as error:
        raise GraphLoadError(
            f'"store.index.embed" names {provider}:{model}, which needs langchain 0.3.9 or newer in the project.'
        ) from error
    return init_embeddings(f"{provider}:{model}")
