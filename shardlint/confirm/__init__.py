"""Asking the user's own JAX: is what a finding claims what really happens?

`confirmer.Confirmer` takes a finding, has `witnesses` make a small program of it, and compares what JAX
does with the verdict. The JAX runs in a process of its own, `worker`: a self-contained program that gets
data, never code of the project, and that imports nothing of shardlint (its path is a contract).
`connection` and `child_process` talk to it, `isolation` keeps folders that are not trusted off its path.
`fixtures` runs whole programs, which users ask for.

No other package imports JAX.
"""
