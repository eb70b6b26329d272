"""Strict stand-ins for real services: each goes by the book, and writes down every breach of it."""
