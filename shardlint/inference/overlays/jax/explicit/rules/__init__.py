"""Rules of library functions: each composes lax primitives on typed arrays. Enter by `table.rule_of`.

A rule stops at the first law that rejects (`Refused`) or cannot tell (`Open`). The modules are families of
functions.
"""
