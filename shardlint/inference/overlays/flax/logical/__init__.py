"""Logical axes: constraints, the rules in force, and the uses that both make."""
