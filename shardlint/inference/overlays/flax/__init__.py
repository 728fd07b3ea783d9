"""Flax: `linen`, `nnx`, logical axes, and what they share (`common`).

Parameters are made with their shapes and metadata, and recorded as uses where they are placed.
"""
