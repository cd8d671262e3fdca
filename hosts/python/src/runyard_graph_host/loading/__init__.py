"""A path or module of the project to a graph that can be used, or one sentence for its author."""
