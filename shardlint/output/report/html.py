"""A report as one HTML page. It loads nothing from other sites; text from the project is escaped."""

from __future__ import annotations

from collections.abc import Iterator

from shardlint.laws.core.values import Spec
from shardlint.laws.placement.array_bytes import text_of_bytes
from shardlint.model.findings import Severity
from shardlint.output.report import words
from shardlint.output.report.style import CSS, JS
from shardlint.output.report.svg import Segment, axes_caption, bar, mesh_picture, share_picture
from shardlint.report.values import Holding, InitReport, Parameter, ParameterReport, RuleRow, TableFinding
from shardlint.rules.messages.common import count_text
from shardlint.support.media import html

#: The most parameters that a bar shows individually, and the most layouts.
_NAMED = 7
_LAYOUTS = 12


def render(report: ParameterReport | InitReport) -> str:
    """Return the page."""
    found = report.report if isinstance(report, InitReport) else report
    title = f"Parameters of {report.init}" if isinstance(report, InitReport) else "Parameters on each device"
    body = "".join(_body(report, found))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html(title)}</title><style>{CSS}</style></head>\n"
        f"<body><h1>{html(title)}</h1>{body}<script>{JS}</script></body></html>\n"
    )


def _body(report: ParameterReport | InitReport, found: ParameterReport) -> Iterator[str]:
    yield f"<p class=small>{html(words.without_mesh(found))}</p>"
    if isinstance(report, InitReport):
        yield from _problems(report)
    if found.meshes:
        yield "<h2>Memory for parameters on each device</h2>"
        yield from _overview(found)
    if isinstance(report, InitReport) and report.rules is not None:
        yield "<h2>Rules</h2>"
        yield _rules(report.rules)
    rules = [str(row.rule) for row in report.rules or ()] if isinstance(report, InitReport) else []
    for number, named in enumerate(found.meshes):
        yield f"<section><h2>{html(words.mesh_text(named))}</h2>"
        yield f"<p>{html(words.total_text(found.totals[number]))}</p>"
        yield from _layouts(found, number)
        yield f"<h3>Parameters</h3>{_table(found, number, rules)}</section>"
    if not found.meshes:
        yield f"<p class=small>{html(words.NO_MESH)}</p>{_table(found, None, rules)}"
    for note in found.notes:
        yield f"<p class=small>{html(note)}</p>"


def _problems(report: InitReport) -> Iterator[str]:
    if not report.failures and not report.findings:
        return
    yield "<h2>Findings</h2><ul class=findings>"
    for failure in report.failures:
        yield f"<li><span class=bad>error</span> {html(failure)}</li>"
    for finding in report.findings:
        yield f"<li>{_finding(finding)}</li>"
    yield "</ul>"


def _finding(finding: TableFinding) -> str:
    kind = "bad" if finding.severity is Severity.ERROR else "warn"
    where = f" <span class=small>on {html(', '.join(finding.meshes))}</span>" if finding.meshes else ""
    return f"<span class={kind}>{html(finding.label)}</span> {html(finding.message)}{where}"


def _overview(report: ParameterReport) -> Iterator[str]:
    """Yield a bar for each mesh, all on one scale, with the largest parameters as segments."""
    most = max(total.device for total in report.totals)
    yield '<div class="card bars">'
    for number, (named, total) in enumerate(zip(report.meshes, report.totals, strict=True)):
        yield (
            f"<div class=row><div><b>{html(named.name)}</b>"
            f"<div class=small>{html(words.mesh_text(named).removeprefix(named.name).strip())}</div></div>"
            f"{bar(_segments(report, number), most)}"
            f"<div><span class=big>{text_of_bytes(total.device)}</span> "
            f"<span class=small>of {text_of_bytes(total.whole)}"
            f"{'; ' + html(words.left_out(total)) if total.open else ''}</span></div></div>"
        )
    yield "</div>"


def _segments(report: ParameterReport, mesh: int) -> list[Segment]:
    held = [
        Segment(words.name_of(parameter), one.bytes * parameter.count)
        for parameter in report.parameters
        if (one := parameter.holdings[mesh]) is not None
        and one.bytes is not None
        and not parameter.alternative
    ]
    held.sort(key=lambda segment: -segment.bytes)
    rest = held[_NAMED:]
    if not rest:
        return held
    return [*held[:_NAMED], Segment(count_text(len(rest), "other"), sum(one.bytes for one in rest))]


def _layouts(report: ParameterReport, mesh: int) -> Iterator[str]:
    """Yield a picture of the mesh for each spec, the one with the most memory first."""
    named = report.meshes[mesh]
    layouts: dict[Spec, list[tuple[Parameter, Holding]]] = {}
    for parameter in report.parameters:
        one = parameter.holdings[mesh]
        if one is not None and one.spec is not None and one.shard is not None and one.problem is None:
            layouts.setdefault(_trimmed(one.spec), []).append((parameter, one))
    if not layouts:
        return
    taken = {
        spec: sum((one.bytes or 0) * parameter.count for parameter, one in ours)
        for spec, ours in layouts.items()
    }
    open_ = {spec for spec, ours in layouts.items() if any(one.bytes is None for _, one in ours)}
    yield f"<h3>Layouts <span class=small>({axes_caption(named.mesh)}; same number, same part)</span></h3>"
    yield "<div class=layouts>"
    for spec in sorted(layouts, key=lambda spec: -taken[spec])[:_LAYOUTS]:
        count = sum(parameter.count for parameter, _ in layouts[spec])
        copies = words.copies_text(layouts[spec][0][1])
        yield (
            f"<div class=card><code>{html(str(spec))}</code>{mesh_picture(named.mesh, spec)}"
            f"<p class=small>{count_text(count, 'parameter')}, "
            f"{_taken(taken[spec], spec in open_)} on each device<br>"
            f"every part is on {html(copies)} {'device' if copies == '1' else 'devices'}</p></div>"
        )
    yield "</div>"
    if len(layouts) > _LAYOUTS:
        yield f"<p class=small>and {len(layouts) - _LAYOUTS} more</p>"


def _taken(size: int, is_open: bool) -> str:
    """Return the size in use, as a lower bound where some sizes are unknown."""
    if not is_open:
        return text_of_bytes(size)
    return f"at least {text_of_bytes(size)}" if size else "an unknown size"


def _trimmed(spec: Spec) -> Spec:
    """Return the spec without trailing Nones, which do not affect the layout."""
    entries = list(spec.entries)
    while entries and entries[-1] is None:
        entries.pop()
    return Spec(tuple(entries))


def _table(report: ParameterReport, mesh: int | None, rules: list[str]) -> str:
    parameters = [p for p in report.parameters if mesh is None or p.holdings[mesh] is not None]
    most = max((_device_bytes(parameter, mesh) for parameter in parameters), default=0)
    rows = "".join(_row(report, parameter, mesh, rules, most) for parameter in parameters)
    heads = [_head("parameter", "text"), _head("shape", "text"), _head("dtype", "text")]
    if mesh is not None:
        heads = ["<th></th>", *heads, _head("spec", "text"), _head("copies", "number")]
        heads.append(_head("on each device", "number", sorted_now=True))
    else:
        heads.append(_head("names", "text"))
    heads.append(_head("whole", "number"))
    if rules:
        heads.append(_head("rule", "text"))
    return (
        '<div><input type=search placeholder="Filter" aria-label="Filter parameters">'
        f'<div class="card scroll"><table><thead><tr>{"".join(heads)}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></div>"
    )


def _head(text: str, kind: str, sorted_now: bool = False) -> str:
    now = " aria-sort=descending" if sorted_now else ""
    return f"<th data-key={kind}{' class=n' if kind == 'number' else ''}{now}>{text}</th>"


def _row(report: ParameterReport, parameter: Parameter, mesh: int | None, rules: list[str], most: int) -> str:
    held = None if mesh is None else parameter.holdings[mesh]
    cells = [_name_cell(parameter, held), f"<td><code>{html(words.shape_of(parameter))}</code></td>"]
    cells.append(f"<td><code>{html(parameter.dtype or '?')}</code></td>")
    names = html(words.names_of(parameter))
    if mesh is None:
        cells.append(f"<td><code>{names}</code></td>")
    else:
        rank = len(parameter.shape or ())
        share = ""
        if held is not None and held.shard is not None and held.spec is not None and rank:
            share = share_picture(report.meshes[mesh].mesh, held.spec, rank)
        cells.insert(0, f"<td>{share}</td>")
        written = f"<span class=small><code>{names}</code></span>" if names else ""
        cells.append(f"<td><code>{html(words.spec_text(held))}</code>{written}</td>")
        copies = held.copies if held is not None and isinstance(held.copies, int) else -1
        cells.append(f"<td class=n data-sort={copies}>{html(words.copies_text(held))}</td>")
        size = _device_bytes(parameter, mesh)
        drawn_bar = bar([Segment(parameter.name, size)], most) if size > 0 else ""
        times = f" ×{parameter.count}" if parameter.count > 1 else ""
        cells.append(f"<td class=n data-sort={size}>{words.bytes_text(held)}{times}{drawn_bar}</td>")
    whole = "?" if parameter.bytes is None else text_of_bytes(parameter.bytes)
    cells.append(f"<td class=n data-sort={-1 if parameter.bytes is None else parameter.bytes}>{whole}</td>")
    if rules:
        rule = "" if parameter.rule is None else rules[parameter.rule]
        cells.append(f"<td><code>{html(rule)}</code></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _name_cell(parameter: Parameter, held: Holding | None) -> str:
    """Return the name, layer and place of a parameter, and its problem."""
    parts = [f"<span class=name>{html(words.name_of(parameter))}</span>"]
    span = parameter.span
    if span is not None:
        where = f"{span.path}:{span.line}" if span.cell is None else f"{span.path}[{span.cell}]:{span.line}"
        parts.append(f"<span class=small>{html(parameter.owner)}, {html(where)}</span>")
    if text := words.remark(parameter, held):
        kind = (
            "bad" if held is not None and (held.large or (held.spec is not None and held.problem)) else "warn"
        )
        parts.append(f"<span class={kind}>{html(text)}</span>")
    return f"<td>{''.join(parts)}</td>"


def _device_bytes(parameter: Parameter, mesh: int | None) -> int:
    """Return the bytes of a parameter and its duplicates on each device; -1 where unknown."""
    size = None if mesh is None else parameter.holdings[mesh]
    return -1 if size is None or size.bytes is None else size.bytes * parameter.count


def _rules(rows: tuple[RuleRow, ...]) -> str:
    drawn = "".join(
        f"<tr><td class=n>{number}</td><td><code>{html(str(row.rule))}</code></td>"
        f"<td><code>{html(str(row.rule.spec))}</code></td><td class=n>{row.takes}</td>"
        f"<td class=n data-sort={row.matches}>{_matches(row)}</td></tr>"
        for number, row in enumerate(rows, 1)
    )
    heads = [_head(name, kind) for name, kind in _RULE_COLUMNS]
    return (
        f'<div class="card scroll"><table><thead><tr>{"".join(heads)}</tr></thead>'
        f"<tbody>{drawn}</tbody></table></div>"
    )


_RULE_COLUMNS = [
    ("#", "number"), ("pattern", "text"), ("spec", "text"), ("takes", "number"), ("matches", "number"),
]  # fmt: skip


def _matches(row: RuleRow) -> str:
    return str(row.matches) if row.matches else "<span class=warn>none</span>"
