"""Names and parts of LangGraph that are not public, and differences of its releases: they are known nowhere else."""
