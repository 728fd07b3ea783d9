"""Laws of placing arrays, given a mesh, a spec and a shape.

Enter by `judge.judge_placement`. `api_laws` lists the checks of each API in their order; `checks` has the
single checks. `partition_spec` and `named_sharding` are the laws of the constructors, `result_shardings` has
the sharding of an accepted call's result, `axis_types` covers Explicit, Auto and Manual axes, `jit_arguments`
committed arguments. `shard_shapes` and `array_bytes` compute each device's shard.
"""
