"""How findings and layouts are shown: one format, one file."""
