"""Parts that the apps of this workspace share."""
