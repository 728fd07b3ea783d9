"""Python's operations on any value: attributes, subscripts, operators, instances, generators, variables.

Each asks the value, its class, or the overlays, in the order in which Python does. They reach the evaluator
through its interface.
"""
