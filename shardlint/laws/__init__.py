"""JAX's behaviour as pure functions on data: no syntax, no evaluation, no files.

A law takes meshes, specs, shapes and types, and returns a verdict (`core.verdicts`): `Accepted`, with the
result; `Rejected`, with the exception that JAX raises; or `Undecided`, where something needed is unknown.
Laws never guess: an answer that holds for some sizes only is undecided.

`core` has the values and verdicts; `placement`, `meshes`, `transforms` and `flax` the laws by subject;
`propagation` how shardings travel through operations on Explicit axes; `versions` the releases of JAX and the
changes between them. Every law has a differential test in `tests/laws` or `tests/propagation` that compares
it with JAX on random cases.
"""
