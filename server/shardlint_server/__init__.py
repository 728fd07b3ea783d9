"""The language server: shardlint's findings as an editor's diagnostics.

`server` builds it from its features, `session` is what they share. It speaks to shardlint through
`shardlint.api` alone. One thread analyses (`analysis.worker`), the event loop answers; an answer is never
about a stale text.
"""
