"""Values of graphs as bytes: as they are stored, and as JSON for clients."""
