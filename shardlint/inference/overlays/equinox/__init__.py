"""Equinox: modules as pytrees, filtered transforms, and layers."""
