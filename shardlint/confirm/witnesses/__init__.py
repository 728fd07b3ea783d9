"""Witnesses: small programs that reproduce a use. Enter by `builder.witness_of`.

`placements`, `collectives`, `constructions` and `programs` build the request for one kind of use, `sizes`
chooses numbers for symbols, `repair` builds the twin that should be accepted, and `requests` writes both as
JSON. A use whose witness would need something unknown has none (`NotRunnable`).
"""
