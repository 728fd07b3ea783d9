"""libcst trees by way of CPython's parser: parsing with `ast` and translating costs a quarter of libcst's
parser.

This front end exists because parsing was a ninth of a cold check. The nodes equal those of
`libcst.parse_module` in all fields of `node_fields.FIELDS`; a differential test holds them equal. Syntax for
which `ast` lacks details, such as ``match`` statements, is left to libcst (`Untranslated`). After an edit,
unchanged statements keep their nodes (`node_reuse`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from shardlint.inference.syntax.front_end.node_reuse import Former, Noted, Noting, changed
from shardlint.inference.syntax.front_end.source_text import Untranslated, parsed

__all__ = ["Former", "Translated", "Untranslated", "changed", "translate"]


class Translated(NamedTuple):
    """The statements of a text, equal to those of libcst's parser, and the nodes of all its expressions.

    ``noted`` are its statements, each after those inside it, and ``again`` the functions of a former text
    with other bodies now, as pairs of the old node and the new one.
    """

    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement]
    expressions: Sequence[cst.CSTNode]
    noted: Sequence[Noted] = ()
    again: Sequence[tuple[cst.FunctionDef, cst.FunctionDef]] = ()


def translate(text: str, former: Former | None = None) -> Translated:
    """Translate a text; statements of a former text keep their nodes, and functions their headers.

    Raises Untranslated if `ast` cannot parse it, or does not tell enough.
    """
    try:
        noting = Noting(text, former)
        return Translated(noting.whole(parsed(text).body), noting.made, noting.noted, noting.again)
    except RecursionError as error:
        raise Untranslated from error
