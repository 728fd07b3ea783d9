"""The language server: shardlint's findings as an editor's diagnostics.

`server` builds it from its features, `session` is their shared state. It uses only `shardlint.api`. One
thread analyses (`analysis.worker`), the event loop answers; an answer is never about a stale text.
"""
