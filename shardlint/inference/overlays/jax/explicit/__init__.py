"""Explicit sharding: arrays carry the sharding in their type through library calls, as JAX propagates it.

`results` finishes a library call: it evaluates the call's rule, and sets the sharding of the result or
records the refusal. The record of each function names its rule (`overlays.operations`). A rule composes
`primitives`, in the order in which the library calls lax's, and those ask `laws.propagation`.
`type_conversion` converts abstract values to the laws' types, and back.
"""
