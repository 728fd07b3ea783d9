"""The types that cross packages: frozen, and free of behaviour.

- `spans`: locations in a file: `Span`, and `Place` for one that is computed on demand.
- `uses`: the events between inference and rules. A `Use` is a fact about one place of the program (a mesh is
  created, an array is placed, a collective runs), with its arguments, its environment, and the verdict of a
  law.
- `findings`: the diagnostics that rules derive from uses: `Finding`, with its `Fix` and that fix's `Edit`s.

Inference records uses, rules report findings, outputs and editors show them. All of these types can be stored
(`cache.codec` lists them) and sent to another process.
"""
