"""Reads and writes of a thread's state outside a run."""
