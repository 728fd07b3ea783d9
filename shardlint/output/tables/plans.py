"""``shardlint plan``: the meshes that take the least memory, for each number of devices, and the chips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from shardlint.cost.chips import CHIPS
from shardlint.cost.sizes import size_text
from shardlint.output.tables.writer import drawing
from shardlint.report.mesh_plans import Plan, Plans, cheapest_chips
from shardlint.support.media import json_document, terminal

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 140
#: What a table shows: sizes for one number of devices, meshes of one size, and problems.
_SHOWN, _ALIKE, _BLOCKERS = 2, 2, 5


def mesh_text(plan: Plan) -> str:
    """Return a mesh's axes: ``data=2, model=4``."""
    return ", ".join(f"{name}={size}" for name, size in zip(plan.mesh.names, plan.mesh.sizes, strict=True))


def as_json(plans: Plans) -> str:
    """Return all plans, and what blocks meshes."""
    document: dict[str, Any] = {
        "init": plans.init,
        "optimizer": plans.optimizer,
        "axes": list(plans.axes),
        "plans": [
            {
                "mesh": dict(zip(plan.mesh.names, plan.mesh.sizes, strict=True)),
                "devices": plan.devices,
                "parameters": plan.parameters,
                "gradients": plan.gradients,
                "optimizer": plan.optimizer,
                "total": plan.total,
                "fits": [chip.name for chip in CHIPS if plan.fits(chip)],
                "problems": list(plan.problems),
            }
            for plan in plans.plans
        ],
        "blockers": [
            {"problem": problem, "meshes": count, "alone": alone} for problem, count, alone in plans.blockers
        ],
    }
    return json_document(document)


def write(plans: Plans, stream: TextIO) -> None:
    """Write the table, what does not divide, and the smallest slice of each chip that fits."""
    with drawing(stream, _WIDTH) as console:
        _draw(plans, console)


def _draw(plans: Plans, console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD)
    for column in ("devices", "parameters", "gradients", "optimizer", "on each device"):
        table.add_column(column, justify="right")
    table.add_column("mesh")
    for chip in CHIPS:
        table.add_column(f"{chip.name} {size_text(chip.hbm)}")
    for count in dict.fromkeys(plan.devices for plan in plans.plans):
        ours = [plan for plan in plans.plans if plan.devices == count]
        good = [plan for plan in ours if not plan.problems]
        alike: dict[tuple[int, int, int], list[Plan]] = {}
        for plan in good:
            alike.setdefault((plan.parameters, plan.gradients, plan.optimizer), []).append(plan)
        for number, (sizes, same) in enumerate(list(alike.items())[:_SHOWN]):
            plan = same[0]
            fits = ("fits" if plan.fits(chip) else f"+{size_text(plan.total - chip.hbm)}" for chip in CHIPS)
            first = "" if number else str(count)
            told = " or ".join(mesh_text(one) for one in same[:_ALIKE])
            told += f", and {len(same) - _ALIKE} more" if len(same) > _ALIKE else ""
            table.add_row(first, *map(size_text, (*sizes, plan.total)), Text(terminal(told)), *fits)
        if not good:
            table.add_row(str(count), "", "", "", "", Text(f"none of {len(ours)} meshes divides"), "", "", "")
    console.print(table)
    _explain(plans, console)


def _explain(plans: Plans, console: Console) -> None:
    blocked = sum(bool(plan.problems) for plan in plans.plans)
    console.print(f"{len(plans.plans)} meshes, {len(plans.plans) - blocked} of which take every parameter.")
    for problem, count, alone in plans.blockers[:_BLOCKERS]:
        only = f", {alone} of them alone" if alone else ""
        console.print(terminal(f"  {problem} (blocks {count}{only})"), soft_wrap=True)
    if len(plans.blockers) > _BLOCKERS:
        console.print(f"  and {len(plans.blockers) - _BLOCKERS} more")
    for chip, plan in cheapest_chips(plans):
        if plan is None:
            console.print(f"{chip.name} ({size_text(chip.hbm)}): no mesh fits")
            continue
        left = size_text(chip.hbm - plan.total)
        fit = (
            f"{chip.name} ({size_text(chip.hbm)}): fits from {plan.devices} devices on, as {mesh_text(plan)}"
        )
        console.print(terminal(f"{fit}, with {left} left for activations"), soft_wrap=True)
    state = "" if plans.optimizer else " No optimizer was named (--optimizer), so its state is not counted."
    console.print(f"Activations are not counted: `shardlint compile` tells them.{state}", soft_wrap=True)
