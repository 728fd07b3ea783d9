"""Knowledge of libraries: tables from canonical names to functions on abstract values, one folder for each
library.

A module exposes some of these tables; `registry` merges them, and the modules beside it look them up.

* ``TABLE``: functions and classes, by canonical name; ``CONSTANTS``: names that are values; ``ALIASES``:
  other spellings.
* ``OPERATIONS``: a record for each array function of JAX and numpy (`operations`), of which tables are made.
* ``CALLS``, ``ATTRIBUTES``, ``METHODS``: objects of library classes (`LibraryObject`), by kind. Brackets and
  assignments call the methods ``__getitem__``, ``__setitem__`` and ``__setattr__``.
* ``BASES``, ``INSTANCES``, ``CREATED``, ``METHOD_CONTEXTS``: classes of the program that derive from a
  library's (`class_hooks`).
* ``CHILDREN``, ``DELEGATES``: kinds that are pytrees, and kinds that delegate to one of their fields.

An overlay imports values and the `Evaluator` alone: no syntax, no interpreter. Overlays of libraries other
than JAX and numpy are loaded when a program mentions the library; `registry` lists them. Every function has a
test beside the library itself.
"""
