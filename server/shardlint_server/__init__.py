"""The language server: shardlint's findings as an editor's diagnostics."""
