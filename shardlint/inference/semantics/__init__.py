"""Python's operations on any value: attributes, subscripts, operators, instances, generators, variables.

Each consults the value, its class, or the overlays, in Python's order. They reach the evaluator through its
interface.
"""
