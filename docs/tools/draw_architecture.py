"""Draw the packages and who imports whom, from the imports: `docs/pictures/architecture.svg`.

``python docs/tools/draw_architecture.py`` writes the picture. A package stands above all that it imports. An
arrow that others imply is left out: where a imports b, b imports c and a imports c, the last is not drawn.
Imports that only name types are not drawn either.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

import imports

PICTURE = imports.PAGE.parent / "pictures" / "architecture.svg"
WIDTH, BOX, HEIGHT, ROW, MARGIN = 900, 128, 30, 62, 24
#: The colours of groups, by the first part of a package's name; others are of the last one.
COLOURS = {
    "inference": "#dbeafe",
    "laws": "#dcfce7", "model": "#dcfce7", "support": "#dcfce7",
    "source": "#fef9c3", "cache": "#fef9c3", "config": "#fef9c3",
    "rules": "#fce7f3", "fixes": "#fce7f3", "confirm": "#fce7f3",
    "": "#ede9fe",
}  # fmt: skip


def picture() -> str:
    """Return the picture as SVG, the same for the same imports."""
    names = list(imports.table(imports.PAGE.read_text(encoding="utf-8")))
    graph = imports.arrows(names)
    levels = _levels(names, graph)
    places = _places(names, graph, levels)
    height = (max(levels.values()) + 1) * ROW + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">',
        "<title>The packages of shardlint, each above those that it imports</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6"'
        ' orient="auto"><path d="M0 0L8 4L0 8z" fill="#64748b"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for name in names:
        for other in sorted(_needed(name, graph), key=names.index):
            (x1, y1), (x2, y2) = places[name], places[other]
            start, end = (x1 + BOX // 2, y1 + HEIGHT), (x2 + BOX // 2, y2)
            middle = (start[1] + end[1]) // 2
            lines.append(
                f'<path d="M{start[0]} {start[1]}C{start[0]} {middle} {end[0]} {middle} {end[0]} {end[1]}"'
                ' fill="none" stroke="#94a3b8" marker-end="url(#tip)"/>'
            )
    for name in names:
        x, y = places[name]
        colour = COLOURS.get(name.partition("/")[0], COLOURS[""])
        lines.append(
            f'<rect x="{x}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="6" fill="{colour}" stroke="#475569"/>'
        )
        lines.append(
            f'<text x="{x + BOX // 2}" y="{y + 19}" text-anchor="middle" fill="#0f172a">'
            f"{escape(_label(name))}</text>"
        )
    return "\n".join([*lines, "</svg>", ""])


def _label(name: str) -> str:
    return name.replace("inference/", "inf./") if len(name) > 18 else name


def _levels(names: list[str], graph: dict[str, set[str]]) -> dict[str, int]:
    """Return how high each package stands: one above the highest that it imports."""
    levels: dict[str, int] = {}
    for name in names:  # the lowest first: the table's order
        levels[name] = max((levels[other] + 1 for other in graph[name] if other in levels), default=0)
    return levels


def _places(
    names: list[str], graph: dict[str, set[str]], levels: dict[str, int]
) -> dict[str, tuple[int, int]]:
    """Return the left upper corners: on each level ordered by the middle of what is imported."""
    places: dict[str, tuple[int, int]] = {}
    top = max(levels.values())
    for level in range(top + 1):
        row = [name for name in names if levels[name] == level]

        def middle(name: str) -> tuple[int, int]:
            below = [places[other][0] for other in _needed(name, graph) if other in places]
            return (sum(below) // len(below) if below else WIDTH // 2, names.index(name))

        row.sort(key=middle)
        step = (WIDTH - 2 * MARGIN) // len(row)
        for i, name in enumerate(row):
            # Every other row stands a little aside, so that long arrows pass between boxes.
            aside = (level % 3 - 1) * 70 if len(row) < 4 else 0
            places[name] = (MARGIN + i * step + (step - BOX) // 2 + aside, MARGIN + (top - level) * ROW)
    return places


def _needed(name: str, graph: dict[str, set[str]]) -> set[str]:
    """Return what a package imports, but for what others that it imports reach."""
    reached: set[str] = set()
    waiting = [further for other in graph[name] for further in graph[other]]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += graph[one]
    return graph[name] - reached


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
