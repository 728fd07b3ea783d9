"""Compiled programs as text, JSON and an HTML page: one module for each, and `words` for all."""
