"""Results that stay valid after an edit.

`entry_result` is what the evaluation of one entry point returned and changed, so that it can be undone and
done again; `early_cutoff` runs an edited function where it was called, and keeps its callers' results if
its own did not change.
"""
