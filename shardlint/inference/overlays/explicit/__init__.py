"""Explicit sharding: arrays carry their type's sharding through library calls, as JAX propagates it.

`finishing.finish` ends a library call: it asks the call's rule, a composition of the laws of lax primitives
(`shardlint.laws.propagation`), for the types of the results, and records the call where a law rejects it.
"""
