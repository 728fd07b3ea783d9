"""Sites of sharding APIs in a text: an independent count that does not depend on inference.

Sites are recognized by the last name of the called expression. A project's own function of the same name
counts too, unless `source.own_calls` sees where it is defined; a function that only wraps one does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import StrEnum

from shardlint.model.spans import Span
from shardlint.source.lexing import lines_of
from shardlint.source.sources import Cell, Source
from shardlint.support.lazy_dataclass import dataclass


class SiteKind(StrEnum):
    """The kind of a site."""

    PLACEMENT = "placement"
    CONSTRAINT = "constraint"
    SHARDING = "sharding"
    PARAMETER = "parameter"
    COLLECTIVE = "collective"


@dataclass(frozen=True, slots=True)
class Site:
    """One call in the text. ``name`` is the last name of the callee; ``named`` is true if it names an axis by
    a string literal where one is expected.
    """

    kind: SiteKind
    name: str
    span: Span
    named: bool = False


_NAMES: dict[str, SiteKind] = {
    **dict.fromkeys(
        (
            "device_put", "make_array_from_callback", "make_array_from_process_local_data",
            "make_array_from_single_device_arrays", "reshard", "shard_map", "smap",
        ),
        SiteKind.PLACEMENT,
    ),
    **dict.fromkeys(("with_sharding_constraint", "with_logical_constraint"), SiteKind.CONSTRAINT),
    "NamedSharding": SiteKind.SHARDING,
    **dict.fromkeys(
        ("with_partitioning", "with_logical_partitioning", "with_metadata"), SiteKind.PARAMETER
    ),
    **dict.fromkeys(
        (
            "psum", "pmean", "pmax", "pmin", "ppermute", "pshuffle", "pbroadcast", "all_gather", "all_to_all",
            "psum_scatter", "axis_index", "axis_size", "pcast",
        ),
        SiteKind.COLLECTIVE,
    ),
}  # fmt: skip
#: Calls that are sites only with one of these keywords.
_WITH_KEYWORD: dict[str, tuple[SiteKind, frozenset[str]]] = {
    **dict.fromkeys(
        ("jit", "pjit", "filter_jit"), (SiteKind.PLACEMENT, frozenset({"in_shardings", "out_shardings"}))
    ),
    **dict.fromkeys(
        (
            "zeros", "ones", "full", "empty", "arange", "einsum", "matmul", "dot", "reshape",
            "ShapeDtypeStruct",
        ),
        (SiteKind.PLACEMENT, frozenset({"device", "sharding", "out_sharding"})),
    ),
    **dict.fromkeys(
        ("Param", "Variable"), (SiteKind.PARAMETER, frozenset({"sharding", "out_sharding", "sharding_names"}))
    ),
}  # fmt: skip

#: Libraries with functions of these names, as programs refer to them.
_OTHERS = frozenset({"torch", "np", "numpy", "tf", "dist"})


def find_sites(source: Source) -> list[Site]:
    """Return the sites of a source in reading order; cells that are not valid Python have none."""
    return [site for cell in source.cells for site in _sites(source.path, cell)]


def _sites(path: str, cell: Cell) -> Iterator[Site]:
    try:
        tree = ast.parse(cell.text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = lines_of(cell.text)

    def column(line: int, offset: int) -> int:
        """Return the column in code points of an offset in bytes."""
        text = lines[line - 1]
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1

    found: list[Site] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if _root_name(node.func) in _OTHERS:
            continue
        # ``partial(jit, in_shardings=...)`` counts as the call of its first argument.
        functions = [node.func, *node.args[:1]] if last_name(node.func) == "partial" else [node.func]
        for name in map(last_name, functions):
            if (kind := _kind(name, node)) is None or node.end_lineno is None or node.end_col_offset is None:
                continue
            start, end = column(node.lineno, node.col_offset), column(node.end_lineno, node.end_col_offset)
            span = Span(path, node.lineno, start, node.end_lineno, end, cell.index)
            found.append(Site(kind, name, span, _names_axis(kind, name, node)))
    yield from sorted(found, key=lambda site: site.span.order())


def last_name(node: ast.expr) -> str:
    """Return the last name of a dotted expression; empty for another one."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _names_axis(kind: SiteKind, name: str, call: ast.Call) -> bool:
    """Return whether a string occurs where the call takes axes; the key of an item names none."""
    options = [keyword for keyword in call.keywords if keyword.arg != "memory_kind"]
    parts: list[ast.expr] = [*call.args, *(keyword.value for keyword in options)]
    if name in _WITH_KEYWORD and kind is SiteKind.PLACEMENT:
        keywords = _WITH_KEYWORD[name][1]
        parts = [keyword.value for keyword in call.keywords if keyword.arg in keywords]
    return kind is SiteKind.COLLECTIVE or any(map(_holds_text, parts))


def _holds_text(node: ast.AST) -> bool:
    """Return whether a string occurs in an expression, but for the keys of subscripts."""
    if isinstance(node, ast.Subscript):
        return _holds_text(node.value)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return any(map(_holds_text, ast.iter_child_nodes(node)))


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _kind(name: str, call: ast.Call) -> SiteKind | None:
    if name in _NAMES:
        return _NAMES[name]
    kind, keywords = _WITH_KEYWORD.get(name, (None, frozenset()))
    return kind if any(keyword.arg in keywords for keyword in call.keywords) else None
