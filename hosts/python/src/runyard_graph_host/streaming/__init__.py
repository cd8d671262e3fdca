"""What a graph streams, as events of the wire."""
