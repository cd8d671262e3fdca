"""Makes the spans of a run from the callbacks of LangChain, by the GenAI conventions of OpenTelemetry."""
