"""Logical axes: constraints, the rules in effect, and the uses recorded for them."""
