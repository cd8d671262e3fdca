"""Keeps user code from harming other runs and the connection, and sends what it prints to the parent."""
