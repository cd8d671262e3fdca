"""Embeddings that need no key: texts with the same words are near each other.

For a real model write its name into langgraph.json instead of this file, as "embed": "openai:text-embedding-3-small"
with "dims": 1536.
"""

import hashlib
import re

DIMENSIONS = 256  # Equal to `dims` in langgraph.json.
# Words that are in every text say nothing about it.
COMMON = set("a an and are as at be by do for from how i in is it of on or that the to what with".split())


async def embed(texts: list[str]) -> list[list[float]]:
    return [place(text) for text in texts]


def place(text: str) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        if word not in COMMON:
            # A plural is the same word.
            digest = hashlib.sha256(word.removesuffix("s").encode()).digest()
            vector[int.from_bytes(digest[:2]) % DIMENSIONS] += 1
    # A vector of zeros has no direction, and is near to nothing.
    return vector if any(vector) else [1.0, *vector[1:]]
