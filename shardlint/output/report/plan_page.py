"""``shardlint plan`` as an HTML page: for each number of devices a bar of what each holds."""

from __future__ import annotations

from collections.abc import Iterator

from shardlint.cost.chips import CHIPS
from shardlint.output.report.style import CSS, JS
from shardlint.output.report.svg import Segment, bar
from shardlint.output.tables.plans import alike_plans, explained, meshes_text
from shardlint.report.mesh_plans import Plan, Plans
from shardlint.support.media import html
from shardlint.support.sizes import size_text

_SHOWN = 3


def render(plans: Plans) -> str:
    """Return the page. It loads nothing from other sites."""
    rows = "".join(_rows(plans))
    notes = "".join(f"<p class=small>{html(line)}</p>" for line in explained(plans))
    title = f"Meshes for {plans.init}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html(title)}</title><style>{CSS}</style></head>\n"
        f'<body><h1>{html(title)}</h1><div class="card bars">{rows}</div>{notes}'
        f"<script>{JS}</script></body></html>\n"
    )


def _rows(plans: Plans) -> Iterator[str]:
    counts = list(dict.fromkeys(plan.devices for plan in plans.plans))
    most = max((plan.total for plan in plans.plans if not plan.problems), default=0)
    for count in counts:
        good = alike_plans(plans, count)
        if not good:
            nothing = "<div class=small>no mesh divides</div>"
            yield f"<div class=row><div><b>{count} devices</b></div>{nothing}</div>"
        for number, same in enumerate(good[:_SHOWN]):
            yield _row(same, most, f"{count} devices" if not number else "")


def _row(same: list[Plan], most: int, head: str) -> str:
    plan = same[0]
    steps = max(0, plan.total - plan.parameters - plan.optimizer)
    name = "gradients" if plan.temporaries is None else "temporaries"
    segments = [
        Segment("parameters", plan.parameters),
        Segment("optimizer", plan.optimizer),
        Segment(name, steps),
    ]
    fitting = [chip.name for chip in CHIPS if plan.fits(chip)]
    fits = f"fits {', '.join(fitting)}" if fitting else "fits no chip"
    return (
        f"<div class=row><div><b>{html(head)}</b><div class=small>{html(meshes_text(same))}</div></div>"
        f"<div>{bar(segments, most)}</div>"
        f"<div><span class=big>{size_text(plan.total)}</span> "
        f"<span class={'small' if fitting else 'bad'}>{html(fits)}</span></div></div>"
    )
