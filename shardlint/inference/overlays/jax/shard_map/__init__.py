"""`shard_map`: the wrapper (`api`), its arguments and results, and the region in which its body is evaluated.

`collectives` are the functions that need a manual axis; `varying` tracks the axes over which a value may
differ.
"""
