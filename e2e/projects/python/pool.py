"""What the routes and the graphs share: it is opened once in each process."""

pool = {"state": "closed"}
