"""What a graph is, without running it: its drawing, its schemas, and the graphs inside of it."""
