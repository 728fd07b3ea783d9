"""Python itself: builtins, and the parts of the standard library that programs meet on their way to a
sharding.
"""
