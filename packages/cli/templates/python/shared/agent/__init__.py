"""The agent of this project."""
