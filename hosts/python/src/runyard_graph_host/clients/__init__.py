"""Clients of the SDK that name no URL: they reach the deployment's own server through the parent."""
