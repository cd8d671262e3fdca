"""One attempt of a run, from its beginning to its settlement."""
