"""What a misspelt name means: one that is bound nowhere is read as the one name that is a letter off.

Whoever types in a name has such a text most of the time. It cannot run, and what it would do with the name
spelt right is what one wants to know; so does Python's own ``NameError: ... Did you mean``. A name is read so
only where nothing can have bound it, and only if one name alone is a letter more or less. So is the attribute
of a module of JAX that has none of that name, where the letter is inside a longer one.
"""

from __future__ import annotations

from shardlint.inference.spelling.names import Names
from shardlint.inference.spelling.texts import Meant, Moved, written_at

__all__ = ["Meant", "Moved", "Names", "written_at"]
