"""Abstract values, and operations on them that need no evaluator.

`values` has the classes: constants, arrays, containers, functions, instances, `LibraryObject`s, and
`Unknown` from the laws. Frozen values compare by content; lists, dicts and instances have identity, as in
Python. `lattice` joins what different paths computed, `truthiness` and `iteration` say what is known of a
value's truth and items, `classes` walks the bases of a class, and `havoc` forgets what code that is not
followed may have changed.
"""
