"""The types that cross packages: frozen, and free of behaviour.

- `spans`: places in a file, `Span`, and `Place` for one that is worked out when it is needed.
- `uses`: the events between inference and rules. A `Use` is a fact about one place of the program (a mesh
  is made, an array is placed, a collective runs), with its arguments, its environment, and the verdict of a
  law.
- `findings`: the diagnostics that rules make of uses: `Finding`, with its `Fix` and the `Edit`s of that.

Inference makes uses, rules make findings, outputs and editors show them. All of these types can be stored
(`cache.codec` lists them) and sent to another process.
"""
