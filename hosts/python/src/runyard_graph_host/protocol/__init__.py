"""The host protocol: bytes to messages, and messages to whoever waits for them."""
