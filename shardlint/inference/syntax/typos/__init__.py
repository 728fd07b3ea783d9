"""Misspelt names: one that is bound nowhere is read as the one name that is a letter off.

While a name is typed, the text has such a name most of the time. It cannot run, and its author wants to
know what it would do with the name spelt right; Python's own ``NameError: ... Did you mean`` does the same.
A name is read so only if nothing can have bound it, and only if one name alone is a letter more or less. So
is the attribute of a module of JAX that has none of that name, if the letter is inside a longer one.
"""

from __future__ import annotations

from shardlint.inference.syntax.typos.corrected_text import Meant, Moved, written_at
from shardlint.inference.syntax.typos.names import Names

__all__ = ["Meant", "Moved", "Names", "written_at"]
