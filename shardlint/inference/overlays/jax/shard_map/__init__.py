"""`shard_map`: the wrapper (`api`), its arguments and results, and the region that its body is evaluated
in.

`collectives` are the functions that need a manual axis; `varying` follows over which axes a value may
differ.
"""
