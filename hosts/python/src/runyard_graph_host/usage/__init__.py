"""Counts the models and tools that a run calls."""
