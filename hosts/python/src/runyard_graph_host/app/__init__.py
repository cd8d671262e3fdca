"""The project's HTTP app: its routes and middleware stand in front of the server's own."""
