"""Exceptions that JAX raises, and the ``except`` clauses that catch them, by class names."""

from __future__ import annotations

from collections.abc import Collection

#: The bases of each class that the laws name, nearest first (read from the classes' own MRO).
BASES: dict[str, tuple[str, ...]] = {
    "Exception": ("BaseException",),
    "AssertionError": ("Exception", "BaseException"),
    "AttributeError": ("Exception", "BaseException"),
    "DuplicateSpecError": ("Exception", "BaseException"),
    "ForbiddenCollectiveError": ("Exception", "BaseException"),
    "IndexError": ("LookupError", "Exception", "BaseException"),
    "IndivisibleError": ("ValueError", "Exception", "BaseException"),
    "KeyError": ("LookupError", "Exception", "BaseException"),
    "NameError": ("Exception", "BaseException"),
    "NotImplementedError": ("RuntimeError", "Exception", "BaseException"),
    "RuntimeError": ("Exception", "BaseException"),
    "TypeError": ("Exception", "BaseException"),
    "ValueError": ("Exception", "BaseException"),
}


def is_caught(exception: str, caught: Collection[str]) -> bool:
    """Return whether ``except`` clauses of these classes may catch the exception.

    A bare ``except:`` is "BaseException". "Exception" as the law's answer means that the class is not known,
    so any clause may catch it. Module prefixes are ignored.
    """
    names = {name.rpartition(".")[2] for name in caught}
    if exception == "Exception":
        return bool(names)
    return not names.isdisjoint({exception, *BASES.get(exception, ("Exception", "BaseException"))})
