"""Small tools that know nothing of sharding, and workarounds for Python's costs. Imports nothing of
shardlint.

- `lazy_dataclass`: a dataclass decorator whose methods are compiled when they are first called; it is what
  keeps ``shardlint --version`` and small runs fast. Use it for classes at module level that a short run may
  not need.
- `gc_policy`, `frame_memory`: when the garbage collector runs, and room for deep calls.
- `temporarily`: an attribute that has another value for the length of a ``with`` statement.
- `cancellation`: a long computation asks `look` now and then, and stops if it was asked to.
- `media`: text that a stranger wrote, made harmless for a terminal, a page, an editor or a format.

A workaround says in its docstring how much it gains, measured.
"""
