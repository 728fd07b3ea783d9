"""Confirmation of findings by the user's own JAX.

`confirmer.Confirmer` takes a finding, has `witnesses` build a small program from it, and compares JAX's
behaviour with the verdict. JAX runs in a process of its own, `worker`: a self-contained program that receives
data, never code of the project, and that imports nothing of shardlint (its path is a contract). `connection`
and `child_process` talk to it, `isolation` keeps untrusted folders off its path. `fixtures` runs whole
programs, at the user's request.

No other package imports JAX.
"""
