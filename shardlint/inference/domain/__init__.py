"""Abstract values, and operations on them that need no evaluator.

`values` has the classes: constants, arrays, containers, functions, instances, `LibraryObject`s, and `Unknown`
from the laws. Frozen values compare by content; lists, dicts and instances have identity, as in Python.
`lattice` joins the values of different paths, `truthiness` and `iteration` have the known truth and items of
a value, `classes` walks the bases of a class, and `havoc` forgets values that unanalyzed code may have
changed.
"""
