"""Pytrees: flattening and mapping (`trees`), registered node classes (`nodes`), and prefix trees (`prefixes`)
such as ``in_shardings`` and ``in_specs``."""
