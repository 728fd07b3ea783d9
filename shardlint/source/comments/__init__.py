"""Comments addressed to shardlint: ``# shardlint: ignore[...]`` (`suppressions`), and facts that a user
states, such as ``# shardlint: x: (batch, 4096)`` (`facts`). Both only parse; `engine.suppression` and
`inference.facts` act on them.
"""
