"""Laws of placing arrays: a mesh, a spec and a shape meet.

Enter by `judge.judge_placement`. `api_laws` lists for each API which checks run, and in which order;
`checks` has the single checks. `partition_spec` and `named_sharding` are the laws of the constructors,
`result_shardings` says how the result of an accepted call is sharded, `axis_types` covers Explicit, Auto
and Manual axes, `jit_arguments` committed arguments. `shard_shapes` and `array_bytes` compute what each
device holds.
"""
