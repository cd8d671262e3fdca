"""The saver and the store of LangGraph, as requests to the parent: this process stores nothing itself."""
