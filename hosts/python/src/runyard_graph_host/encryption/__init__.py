"""The project's `Encryption` object of `langgraph_sdk`."""
