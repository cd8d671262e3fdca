"""Places texts in a space of four dimensions, by the words that are in them."""

WORDS = ("tea", "coffee", "rain", "sun")


async def embed(texts: list[str]) -> list[list[float]]:
    return [[float(word in text.lower()) + 0.01 for word in WORDS] for text in texts]
