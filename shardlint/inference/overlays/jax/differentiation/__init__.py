"""Derivatives: the transforms that compute them, and functions with rules of their own for them."""
