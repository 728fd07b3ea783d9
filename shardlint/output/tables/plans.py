"""``shardlint plan``: the meshes that take the least memory, for each number of devices, and the chips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from shardlint.cost.chips import CHIPS
from shardlint.output.tables.writer import drawing
from shardlint.report.mesh_plans import Change, Plan, Plans, cheapest_chips
from shardlint.support.media import json_document, terminal
from shardlint.support.sizes import size_text

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
        "step": plans.step,
        "axes": list(plans.axes),
        "plans": [
            {
                "mesh": dict(zip(plan.mesh.names, plan.mesh.sizes, strict=True)),
                "devices": plan.devices,
                "parameters": plan.parameters,
                "gradients": plan.gradients,
                "optimizer": plan.optimizer,
                "temporaries": plan.temporaries,
                "total": plan.total,
                "fits": [chip.name for chip in CHIPS if plan.fits(chip)],
                "problems": list(plan.problems),
            }
            for plan in plans.plans
        ],
        "blockers": [
            {"problem": problem, "meshes": count, "alone": alone} for problem, count, alone in plans.blockers
        ],
        "sizes": [
            {
                "parameter": one.parameter,
                "alike": one.alike,
                "dimension": one.dimension,
                "size": one.size,
                "axes": list(one.axes),
                "to": one.to,
                "ways": one.ways,
                "meshes": one.meshes,
            }
            for one in plans.sizes
        ],
        "changes": [
            {
                "chip": one.chip.name,
                "devices": one.plan.devices,
                "mesh": dict(zip(one.plan.mesh.names, one.plan.mesh.sizes, strict=True)),
                "over": one.over,
                "layouts": [
                    {
                        "parameter": layout.parameter,
                        "alike": layout.alike,
                        "dimension": layout.dimension,
                        "axis": layout.axis,
                        "saved": layout.saved,
                    }
                    for layout in one.layouts
                ],
            }
            for one in plans.changes
        ],
    }
    return json_document(document)


def write(plans: Plans, stream: TextIO) -> None:
    """Write the table, what does not divide, and the smallest slice of each chip that fits."""
    with drawing(stream, _WIDTH) as console:
        _draw(plans, console)


def alike_plans(plans: Plans, count: int) -> list[list[Plan]]:
    """Return the plans of a number of devices that divide, those with equal bytes together, least first."""
    alike: dict[tuple[int | None, ...], list[Plan]] = {}
    for plan in plans.plans:
        if plan.devices == count and not plan.problems:
            sizes = plan.parameters, plan.gradients, plan.optimizer, plan.temporaries
            alike.setdefault(sizes, []).append(plan)
    return list(alike.values())


def meshes_text(same: list[Plan]) -> str:
    """Return meshes that hold the same, the first few of them."""
    told = " or ".join(mesh_text(one) for one in same[:_ALIKE])
    return told + (f", and {len(same) - _ALIKE} more" if len(same) > _ALIKE else "")


def _draw(plans: Plans, console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD)
    columns = ["devices", "parameters", "gradients", "optimizer", "on each device"]
    if plans.step is not None:
        columns.insert(4, "temporaries")
    for column in columns:
        table.add_column(column, justify="right")
    table.add_column("mesh")
    for chip in CHIPS:
        table.add_column(f"{chip.name} {size_text(chip.hbm)}")
    for count in dict.fromkeys(plan.devices for plan in plans.plans):
        ours = [plan for plan in plans.plans if plan.devices == count]
        good = alike_plans(plans, count)
        for number, same in enumerate(good[:_SHOWN]):
            plan = same[0]
            fits = ("fits" if plan.fits(chip) else f"+{size_text(plan.total - chip.hbm)}" for chip in CHIPS)
            sizes = [plan.parameters, plan.gradients, plan.optimizer, plan.total]
            shown = list(map(size_text, sizes))
            if plans.step is not None:
                shown.insert(3, "?" if plan.temporaries is None else size_text(plan.temporaries))
            table.add_row("" if number else str(count), *shown, Text(terminal(meshes_text(same))), *fits)
        if not good:
            empty = [""] * (len(columns) - 1)
            table.add_row(str(count), *empty, Text(f"none of {len(ours)} meshes divides"), "", "", "")
    console.print(table)
    for line in explained(plans):
        console.print(terminal(line, begins=False), soft_wrap=True)


def explained(plans: Plans) -> Iterator[str]:
    """Yield what stands in the way, the smallest mesh of each chip, and the change that makes a smaller one
    fit.
    """
    blocked = sum(bool(plan.problems) for plan in plans.plans)
    yield f"{len(plans.plans)} meshes, {len(plans.plans) - blocked} of which take every parameter."
    for size in plans.sizes[:_BLOCKERS]:
        more = f" (and {size.alike} alike)" if size.alike else ""
        axes = " and ".join(f'"{axis}"' for axis in size.axes)
        yield (
            f"  {size.parameter}{more}: {axes} does not divide dimension {size.dimension} (size {size.size}) "
            f"on {size.meshes} of them; {size.to} divides by {size.ways}"
        )
    told = {size.parameter for size in plans.sizes}
    others = [one for one in plans.blockers if one[0].partition(": ")[0] not in told]
    others = [one for one in others if "does not divide" not in one[0]]
    for problem, count, alone in others[:_BLOCKERS]:
        only = f", {alone} of them alone" if alone else ""
        yield f"  {problem} (blocks {count}{only})"
    if (more_of := len(plans.sizes) + len(others) - 2 * _BLOCKERS) > 0:
        yield f"  and {more_of} more"
    changes = {change.chip.name: change for change in plans.changes}
    for chip, plan in cheapest_chips(plans):
        if plan is None:
            yield f"{chip.name} ({size_text(chip.hbm)}): no mesh fits{_change_text(changes.get(chip.name))}"
            continue
        left = size_text(chip.hbm - plan.total)
        spare = "left" if plans.step is not None else "left for activations"
        yield (
            f"{chip.name} ({size_text(chip.hbm)}): fits from {plan.devices} devices on, as {mesh_text(plan)}"
            f", with {left} {spare}{_change_text(changes.get(chip.name))}"
        )
    if plans.step is None:
        yield "Activations are not counted: --step compiles a step, and counts them."
    else:
        yield "Temporaries are those of the CPU's compiler; gradients and activations are among them."
    if plans.optimizer is None:
        yield "No optimizer was named (--optimizer), so its state is not counted."


def _change_text(change: Change | None) -> str:
    if change is None:
        return ""
    begin = f"; {change.plan.devices} devices ({mesh_text(change.plan)}) lack {size_text(change.over)}"
    if not change.layouts:
        return f"{begin}, which no split of a few parameters saves"
    splits = ", ".join(
        f'{one.parameter}{f" (and {one.alike} alike)" if one.alike else ""} over "{one.axis}" (dimension '
        f"{one.dimension}, saves {size_text(one.saved)})"
        for one in change.layouts
    )
    return f"{begin}, and would fit with a split of {splits}"
