"""`ast` trees as libcst nodes: parsing with `ast` and translating costs a quarter of libcst's parser.

The nodes are those that libcst's parser makes of the text, but have only the fields of `nodes.FIELDS`. What
`ast` does not tell, as in ``match`` statements, is left to libcst: `Untranslated` says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from shardlint.inference.translating.statements import Translator
from shardlint.inference.translating.written import Untranslated, parsed

__all__ = ["Untranslated", "translate"]


def translate(text: str) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
    """The statements of a text, as libcst's parser makes them of it.

    Raises Untranslated where `ast` cannot parse it, or does not tell.
    """
    try:
        return Translator(text).block(parsed(text).body)
    except RecursionError as error:
        raise Untranslated from error
