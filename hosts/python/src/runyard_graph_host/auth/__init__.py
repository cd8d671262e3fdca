"""The project's `Auth` object of `langgraph_sdk`: who calls, and what they may do."""
