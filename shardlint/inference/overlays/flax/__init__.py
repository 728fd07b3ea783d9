"""Flax: `linen`, `nnx`, logical axes, and their shared parts (`common`).

Parameters are made with their shapes and metadata, and recorded as uses where they are placed.
"""
