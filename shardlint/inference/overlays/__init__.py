"""What shardlint knows of libraries: tables from canonical names to functions on abstract values.

Each module of this package exposes some of these tables; `registry` merges them once.

- ``TABLE``: a library's functions and classes, by canonical name.
- ``CONSTANTS``: names that are values.
- ``CALLS``, ``ATTRIBUTES``, ``METHODS``: objects of library classes (`LibraryObject`), by kind. The methods
  ``__getitem__``, ``__setitem__`` and ``__setattr__`` are what brackets and assignments mean.
- ``READERS``: what reads attributes of values of a type, and of library objects of a kind otherwise.
- ``CREATED``, ``METHOD_CONTEXTS``: what happens when a class of the program that derives from a
  library's is instantiated, and around each call of its methods.
- ``BASES``, ``INSTANCES``: library classes as classes that a program's derive from, and what calling one
  of the program's makes where that is no `Instance`.
- ``CHILDREN``, ``DELEGATES``: kinds that are pytrees, and kinds that stand for one of their fields.
- ``AROUND``: what is put around functions that other overlays have.

`registry` knows names, `object_protocol` what is done with objects, `class_hooks` what holds of classes of
the program that derive from a library's, and `vocabulary` which words matter.
"""
