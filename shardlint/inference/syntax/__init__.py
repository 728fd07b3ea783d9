"""Texts as trees: the parts of a file, parsed on demand.

`file_parts.split` cuts a file into functions, classes and statements with `ast`; a `units.Unit` is a stretch
of lines that becomes libcst nodes on first access, by way of `front_end`. `tree_cache` and `text_cache` keep
trees of texts, `positions` has the positions of nodes, `diff` the bodies that an edit changed,
`error_recovery` and `typos` handle half-typed code. `node_fields` lists the fields of nodes that are
evaluated; no other fields may be read.
"""
