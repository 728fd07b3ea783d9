"""Texts as trees: which parts a file has, parsed when they are needed.

`file_parts.split` cuts a file into functions, classes and statements with `ast`; a `units.Unit` is a
stretch of lines that becomes libcst nodes with the first look at it, by way of `front_end`. `tree_cache`
and `text_cache` keep trees of texts, `positions` says where nodes stand, `diff` which bodies an edit
changed, `error_recovery` and `typos` read around what is half typed. `node_fields` lists the fields of
nodes that are evaluated; nothing may read others.
"""
