"""Pytrees: flattening and mapping (`trees`), registered node classes (`nodes`), and prefix trees
(`prefixes`), as ``in_shardings`` and ``in_specs`` are.
"""
