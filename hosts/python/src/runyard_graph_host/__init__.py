"""Runs the code of a Python project: the child of a graph host (docs/services/graph-host-protocol.md)."""
