"""Misspelt names: an unbound name is read as the only name that is one letter longer or shorter.

While a name is typed, the text contains such a name most of the time. It cannot run, and its author wants to
know what it would do with the right spelling; Python's own ``NameError: ... Did you mean`` does the same. A
name is corrected only if nothing can have bound it, and only if a single name differs by one letter. The same
holds for a missing attribute of a module of JAX, if the letter is inside the longer name.
"""

from __future__ import annotations

from shardlint.inference.syntax.typos.corrected_text import Moved, ReadText, written_at
from shardlint.inference.syntax.typos.names import Names

__all__ = ["Moved", "Names", "ReadText", "written_at"]
