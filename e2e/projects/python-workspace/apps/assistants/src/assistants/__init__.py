"""Agents in the shapes that public projects have."""
