"""Fixes of findings whose repair can be read off the text: a misspelt axis, a tuple that should be a spec.

Each is a function from a finding and the page it stands on to a fix. It gives none where the text is of
another form than it knows: a name instead of a literal, entries that are computed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import get_close_matches

from shardlint.files.pages import Page, expressions, parents, parsed
from shardlint.files.sources import Source
from shardlint.findings import Applicability, Edit, Finding, Fix
from shardlint.fixing.importing import CannotImport, Names
from shardlint.laws.values import Mesh, Unknown
from shardlint.laws.verdicts import Rejected
from shardlint.records import dataclass
from shardlint.spans import Span
from shardlint.uses import (
    CollectiveUse,
    LogicalAxesUse,
    ParameterUse,
    Placement,
    ShardingUse,
    Use,
)

_SAFE, _UNSAFE = Applicability.SAFE, Applicability.UNSAFE
#: Axes that are offered for one that is not known.
_MOST_AXES = 8
_LITERAL = re.compile(r"(?P<open>[rRuU]?(?P<quote>['\"]))(?P<body>[^'\"\\]*)(?P=quote)")


def with_fix(finding: Finding, source: Source | None) -> Finding:
    """Return a finding with the fix of its rule, where there is one and the text allows it."""
    rewrite = _REWRITES.get(finding.code)
    if rewrite is None or finding.fix is not None or source is None:
        return finding
    return replace(finding, fix=_rewritten(finding, source, rewrite))


def _rewritten(finding: Finding, source: Source, rewrite: Rewrite) -> Fix | None:
    cell = next((cell for cell in source.cells if cell.index == finding.span.cell), None)
    if cell is None or finding.use is None:
        return None
    try:
        return rewrite(_Desk(source, Page(source.path, cell.index, *parsed(cell.text)), finding, finding.use))
    except (CannotImport, SyntaxError, ValueError, RecursionError, IndexError):
        return None


@dataclass(frozen=True, slots=True)
class _Desk:
    """What a rewrite looks at."""

    source: Source
    page: Page
    finding: Finding
    use: Use

    def node(self) -> ast.expr | None:
        """The expression at the finding; a span leaves out the parentheses of a tuple."""
        span = self.finding.span
        text = self.page.text_of(span).strip()
        best: tuple[int, ast.expr] | None = None
        for node in expressions(self.page.tree).get(span.line, ()):
            if not self._around(node, span):
                continue
            written = self.page.written(node)
            inner = written[1:-1].strip() if isinstance(node, ast.Tuple) and written[:1] == "(" else None
            if text in (written, inner) and (best is None or len(written) < best[0]):
                best = len(written), node
        return best[1] if best else None

    def _around(self, node: ast.expr, span: Span) -> bool:
        if span.end_line > (node.end_lineno or 0):
            return False
        at = self.page.span_of(node)
        starts = (at.line, at.column) <= (span.line, span.column)
        return starts and (span.end_line, span.end_column) <= (at.end_line, at.end_column)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is directly in, then what that is in."""
        above = parents(self.page.tree)
        while (parent := above.get(node)) is not None:
            yield parent
            node = parent

    def edit(self, node: ast.expr, text: str) -> Edit:
        """Write something else for a node."""
        return Edit(self.page.span_of(node), text)

    def between(self, start: tuple[int, int], stop: tuple[int, int], text: str) -> Edit:
        """Write something else between two places, each a line and a column."""
        return Edit(Span(self.page.path, *start, *stop, self.page.cell), text)

    def at(self, place: tuple[int, int], text: str) -> Edit:
        """Insert a text."""
        return self.between(place, place, text)


Rewrite = Callable[[_Desk], Fix | None]


def _start(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column


def _strings(node: ast.AST) -> Iterator[ast.Constant]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner


# -- axes ---------------------------------------------------------------------------------------


def alternatives(finding: Finding, source: Source) -> list[Fix]:
    """The other axes that could stand for one that is not known: which is meant, only the author knows."""
    if finding.use is None or _REWRITES.get(finding.code) is not _axis:
        return []
    _, known = _wrong_axis(finding.use)
    first = finding.fix.edits if finding.fix else ()
    found = []
    for axis in known[:_MOST_AXES]:
        fix = _rewritten(finding, source, lambda desk, axis=axis: _axis(desk, axis))  # type: ignore[misc]
        if fix is not None and fix.edits != first:
            found.append(fix)
    return found


def _axis(desk: _Desk, axis: str | None = None) -> Fix | None:
    """Write the axis that the wrong one is nearest to, or ``axis``; several in one string are a tuple."""
    wrong, known = _wrong_axis(desk.use)
    node = desk.node()
    if node is None or not wrong or not known:
        return None
    parts = [part for part in re.split(r"[,\s]+", wrong) if part]
    if (
        axis is None
        and len(parts) > 1
        and set(parts) <= set(known)
        and isinstance(node, ast.Constant)
        and node.value == wrong
    ):
        names = ", ".join(f'"{part}"' for part in parts)
        return Fix(f"write ({names})", _UNSAFE, (desk.edit(node, f"({names})"),))
    near = get_close_matches(wrong, list(known), n=1) if axis is None else [axis]
    edits = []
    for inner in _strings(node):
        if inner.value == wrong and near:
            literal = _LITERAL.fullmatch(desk.page.written(inner))
            if literal is None or literal["body"] != wrong:
                return None
            edits.append(desk.edit(inner, f"{literal['open']}{near[0]}{literal['quote']}"))
    return Fix(f'write "{near[0]}"', _UNSAFE, tuple(edits)) if edits else None


def _wrong_axis(use: Use) -> tuple[str, tuple[str, ...]]:
    """The axis that is not known where it is named, and those that are."""
    if isinstance(use, LogicalAxesUse):
        return use.text, use.known
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.axis is None:
        return "", ()
    if isinstance(use, CollectiveUse):
        bound = use.environment.bound_axes
        return verdict.axis, () if isinstance(bound, Unknown) else tuple(name for name, _ in bound)
    mesh = getattr(use, "mesh", None)
    return verdict.axis, mesh.names if isinstance(mesh, Mesh) else ()


# -- specs --------------------------------------------------------------------------------------


def _spec(desk: _Desk) -> Fix | None:
    """Make a spec of a tuple, a list or a string that stands where one is meant."""
    node, use = desk.node(), desk.use
    if not isinstance(use, ShardingUse | Placement):
        return None
    if isinstance(use, Placement) and not use.api.value.startswith("shard_map"):
        return None  # a bare spec would need a mesh in the context
    if isinstance(use.spec, str) and "P(" in use.spec:
        return None  # a tuple or list of specs: which is meant, only the author knows
    if node is None or not isinstance(node, ast.Tuple | ast.List | ast.Constant):
        return None
    written, span = desk.page.written(node), desk.page.span_of(node)
    needed = Names(desk.source, desk.page).spec()
    edits = [*needed.edits]
    if isinstance(node, ast.Constant):
        if node.value is not None and not isinstance(node.value, str):
            return None
        inner = "" if node.value is None else written
        edits.append(desk.edit(node, f"{needed.name}({inner})"))
    elif isinstance(node, ast.Tuple) and written[:1] == "(":
        edits.append(desk.at(_start(span), needed.name))
    elif isinstance(node, ast.List):
        edits.append(desk.between(_start(span), (span.line, span.column + 1), f"{needed.name}("))
        edits.append(desk.between((span.end_line, span.end_column - 1), _end(span), ")"))
    else:
        return None
    nothing = isinstance(node, ast.Constant) and node.value is None
    return Fix(f"make it a {needed.name}", _UNSAFE if nothing else _SAFE, tuple(edits))


def _surplus(desk: _Desk) -> Fix | None:
    """Drop the entries of a spec, or of a parameter's names, that are beyond the rank and None."""
    use = desk.use
    if not isinstance(use, Placement | ParameterUse) or isinstance(use.shape, Unknown):
        return None
    node, rank = desk.node(), len(use.shape)
    if node is None:
        return None
    holder = next(desk.parents(node), None) if not isinstance(node, ast.Tuple) else node
    if isinstance(holder, ast.Call) and not holder.keywords:
        entries: list[ast.expr] = holder.args
    elif isinstance(holder, ast.Tuple):
        entries = holder.elts
    else:
        return None
    if len(entries) <= rank or any(isinstance(entry, ast.Starred) for entry in entries):
        return None
    if not all(isinstance(entry, ast.Constant) and entry.value is None for entry in entries[rank:]):
        return None
    whole, last = desk.page.span_of(holder), desk.page.span_of(entries[-1])
    close = (whole.end_line, whole.end_column - 1)
    if desk.page.text_of(replace(whole, line=close[0], column=close[1])) != ")":
        return None
    rest = desk.page.text_of(
        replace(last, line=last.end_line, column=last.end_column, end_line=close[0], end_column=close[1])
    )
    if rank:
        kept = desk.page.span_of(entries[rank - 1])
        one = isinstance(holder, ast.Tuple) and rank == 1 and "," not in rest
        edit = desk.between(_end(kept), _end(last), "," if one else "")
    else:
        edit = desk.between(_start(desk.page.span_of(entries[0])), close, "")
    removed = desk.page.text_of(edit.span)
    if "#" in removed or "#" in rest:
        return None
    # Who else reads a spec that has a name could count its entries.
    direct = isinstance(next(desk.parents(holder), None), ast.Call | ast.keyword)
    dropped = len(entries) - rank
    what = "the surplus None" if dropped == 1 else f"{dropped} surplus entries None"
    return Fix(f"drop {what}", _SAFE if direct else _UNSAFE, (edit,))


def _entry(desk: _Desk) -> Fix | None:
    """Write the entry that is meant, or None for one that shards nothing."""
    node = desk.node()
    if node is None:
        return None
    if desk.finding.code == "SHL105":
        empty = isinstance(node, ast.Tuple) or (isinstance(node, ast.Constant) and node.value == "")
        if not empty and not (isinstance(node, ast.Constant) and not node.value and node.value is not None):
            return None
        return Fix("write None", _SAFE if empty else _UNSAFE, (desk.edit(node, "None"),))
    if desk.finding.code == "SHL204":
        return (
            Fix("write None", _UNSAFE, (desk.edit(node, "None"),))
            if isinstance(node, ast.Attribute)
            else None
        )
    if not isinstance(node, ast.Tuple | ast.List):
        return None
    leaves = list(_leaves(node))
    names = [leaf for leaf in leaves if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)]
    nothing = [leaf for leaf in leaves if isinstance(leaf, ast.Constant) and leaf.value is None]
    if len(names) + len(nothing) != len(leaves) or not names or (nothing and len(nothing) == len(leaves)):
        return None
    written = ", ".join(desk.page.written(name) for name in names)
    text = written if len(names) == 1 else f"({written})"
    if "\n" in written or "#" in desk.page.written(node):
        return None
    return Fix(f"write {text}", _UNSAFE if nothing else _SAFE, (desk.edit(node, text),))


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            yield from _leaves(element)
    else:
        yield node


def _whole(desk: _Desk) -> Fix | None:
    """Say by a spec that an argument of a shard_map is whole on every device."""
    node = desk.node()
    if node is None:
        return None
    nothing = [n for n in ast.walk(node) if isinstance(n, ast.Constant) and n.value is None]
    if len(nothing) != 1:
        return None
    needed = Names(desk.source, desk.page).spec()
    return Fix(f"write {needed.name}()", _UNSAFE, (*needed.edits, desk.edit(nothing[0], f"{needed.name}()")))


# -- Flax ---------------------------------------------------------------------------------------


def _names(desk: _Desk) -> Fix | None:
    """Make a tuple of a parameter's names that are one string."""
    node, use = desk.node(), desk.use
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    written = f"({desk.page.written(node)},)"
    # nnx ignores a string, and will shard by the tuple; linen can make nothing of the string.
    nnx = isinstance(use, ParameterUse) and use.library.endswith("nnx")
    return Fix(f"write {written}", _UNSAFE if nnx else _SAFE, (desk.edit(node, written),))


def _rules(desk: _Desk) -> Fix | None:
    """Write a dict of logical axis rules as pairs."""
    node = desk.node()
    if not isinstance(node, ast.Dict) or None in node.keys or not node.keys:
        return None
    span = desk.page.span_of(node)
    edits = [desk.between(_start(span), (span.line, span.column + 1), "(")]
    for key, value in zip(node.keys, node.values, strict=True):
        assert key is not None
        before, after = desk.page.span_of(key), desk.page.span_of(value)
        gap = Span(span.path, *_end(before), *_start(after), span.cell)
        if not re.fullmatch(r"\s*:[ \t]*", desk.page.text_of(gap)):
            return None  # something in parentheses, or a comment
        edits.append(desk.at(_start(before), "("))
        edits.append(Edit(gap, ", "))
        edits.append(desk.at(_end(after), ")"))
    close = "," if len(node.keys) == 1 and not _ends_with_comma(desk, node, span) else ""
    edits.append(desk.between((span.end_line, span.end_column - 1), _end(span), f"{close})"))
    direct = isinstance(next(desk.parents(node), None), ast.Call | ast.keyword)
    return Fix("write the rules as pairs", _SAFE if direct else _UNSAFE, tuple(edits))


def _ends_with_comma(desk: _Desk, node: ast.Dict, span: Span) -> bool:
    last = desk.page.span_of(node.values[-1])
    rest = desk.page.text_of(Span(span.path, *_end(last), *_end(span), span.cell))
    return "," in rest


# -- calls --------------------------------------------------------------------------------------

#: What `jax.shard_map` takes by keyword only, in the order in which the old one took it.
_BY_KEYWORD = ("mesh", "in_specs", "out_specs", "check_vma")


def _keywords(desk: _Desk) -> Fix | None:
    """Name the arguments that `jax.shard_map` takes by keyword only."""
    node, verdict = desk.node(), desk.use.verdict
    if not isinstance(node, ast.Call) or not isinstance(verdict, Rejected):
        return None
    given = node.args[1:]
    named = {keyword.arg for keyword in node.keywords}
    if not given or len(given) > len(_BY_KEYWORD) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if named & {None, *_BY_KEYWORD[: len(given)]} or "by position" not in verdict.detail:
        return None
    edits = tuple(
        desk.at(_start(desk.page.span_of(argument)), f"{keyword}=")
        for keyword, argument in zip(_BY_KEYWORD, given, strict=False)
    )
    return Fix("name the arguments", _SAFE, edits)


def _axis_types(desk: _Desk) -> Fix | None:
    """Write the members of `AxisType` for their names."""
    node = desk.node()
    words = {"auto": "Auto", "explicit": "Explicit", "manual": "Manual"}
    if not isinstance(node, ast.Tuple) or not node.elts:
        return None
    members = []
    for element in node.elts:
        if not isinstance(element, ast.Constant) or str(element.value).lower() not in words:
            return None
        members.append((element, words[str(element.value).lower()]))
    needed = Names(desk.source, desk.page).of("AxisType")
    edits = [desk.edit(element, f"{needed.name}.{member}") for element, member in members]
    return Fix(f"write the members of {needed.name}", _SAFE, (*needed.edits, *edits))


_REWRITES: dict[str, Rewrite] = {
    "SHL101": _entry,
    "SHL103": _axis,
    "SHL104": _spec,
    "SHL105": _entry,
    "SHL201": _surplus,
    "SHL203": _surplus,
    "SHL204": _entry,
    "SHL302": _surplus,
    "SHL303": _axis,
    "SHL307": _keywords,
    "SHL312": _whole,
    "SHL406": _axis_types,
    "SHL501": _surplus,
    "SHL502": _names,
    "SHL505": _axis,
    "SHL507": _rules,
}
