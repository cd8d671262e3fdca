"""Embeddings in every form in which a project may name them."""
