"""Knowledge of libraries: tables from canonical names to functions on abstract values, a folder a library.

A module exposes some of these tables; `registry` merges them, and the functions beside it ask them.

- ``TABLE``: functions and classes, by canonical name; ``CONSTANTS``: names that are values; ``ALIASES``:
  spellings.
- ``CALLS``, ``ATTRIBUTES``, ``METHODS``: objects of library classes (`LibraryObject`), by kind. The methods
  ``__getitem__``, ``__setitem__`` and ``__setattr__`` are what brackets and assignments mean.
- ``BASES``, ``INSTANCES``, ``CREATED``, ``METHOD_CONTEXTS``: classes of the program that derive from a
  library's (`class_hooks`).
- ``CHILDREN``, ``DELEGATES``: kinds that are pytrees, and kinds that stand for one of their fields.

An overlay knows values and the `Evaluator` alone: no syntax, no interpreter. Overlays of other libraries
than JAX and numpy are loaded once a program mentions the library; `registry` lists them. Every function has
a test beside the library itself.
"""
