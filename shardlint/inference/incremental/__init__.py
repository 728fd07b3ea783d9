"""Results that stay valid after an edit.

`entry_result` holds the results and changes of evaluating one entry point, so that it can be undone and
repeated; `early_cutoff` reruns an edited function where it was called: if its result is unchanged, those of
its callers stay valid.
"""
