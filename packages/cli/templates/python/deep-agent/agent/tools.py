"""The source of the facts. Replace it by a search of the web, or of your own documents."""

from langchain.tools import tool

FACTS = {
    "tea": "Tea is the most common drink after water.",
    "coffee": "Coffee came to Europe in the sixteenth century.",
}


@tool
def look_up(topic: str) -> str:
    """Looks a topic up."""
    found = (fact for word, fact in FACTS.items() if word in topic.lower())
    return next(found, f"Nothing is known about {topic}.")
