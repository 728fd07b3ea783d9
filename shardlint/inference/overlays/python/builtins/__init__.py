"""Python's builtins: functions, iterators, the methods of strings and containers, objects and their
attributes.
"""
