"""What a graph is, without running it: its drawing, its schemas, its tools, and the graphs inside of it."""
