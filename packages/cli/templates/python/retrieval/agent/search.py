"""Finds passages of the documents by meaning.

They are in the store of the deployment, which embeds them as `store.index` of langgraph.json says. The first search
after a change of the files puts them there.
"""

import asyncio
import hashlib
import json
import re
from pathlib import Path

from langchain.tools import ToolRuntime, tool
from langgraph.store.base import BaseStore

FOLDER = Path(__file__).parent.parent / "documents"


@tool
async def search_documents(query: str, runtime: ToolRuntime) -> str:
    """Finds the passages of the documents that are closest to a question."""
    namespace = await index_documents(runtime.store)
    found = await runtime.store.asearch(namespace, query=query, limit=2)
    return "\n\n".join(f"{item.value['file']}: {item.value['text']}" for item in found) or "Nothing was found."


async def index_documents(store: BaseStore) -> tuple[str, ...]:
    """Puts each passage of the documents into the store, once for each state of the files. Returns their namespace."""
    passages = await asyncio.to_thread(read_passages)
    version = hashlib.sha256(json.dumps(passages).encode()).hexdigest()[:12]
    namespace = ("documents", version)
    if await store.aget(("documents",), version):
        return namespace
    for index, passage in enumerate(passages):
        await store.aput(namespace, str(index), passage)
    await store.aput(("documents",), version, {"passages": len(passages)}, index=False)
    return namespace


def read_passages() -> list[dict[str, str]]:
    passages = []
    for file in sorted(FOLDER.glob("*.md")):
        for passage in re.split(r"\n\s*\n", file.read_text(encoding="utf-8")):
            text = passage.strip()
            if text and not text.startswith("#"):
                passages.append({"file": file.name, "text": text})
    return passages
