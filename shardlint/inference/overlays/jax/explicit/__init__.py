"""Explicit sharding: arrays carry their type's sharding through library calls, as JAX propagates it.

`results` ends a library call: it asks the call's rule, and gives the array that comes out its sharding, or
records the refusal. `rules.table` names the rule of each function; a rule composes `primitives`, in the
order in which the library calls lax's, and those ask `laws.propagation`. `type_conversion` turns abstract
values into the laws' types, and back.
"""
