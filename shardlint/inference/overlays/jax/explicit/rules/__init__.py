"""Rules of library functions: each composes lax primitives on typed arrays. The entry is `table.rule_of`.

A rule stops at the first law that rejects (`Refused`), or whose verdict is unknown (`Open`). Each module is a
family of functions.
"""
