"""Plans: a model's parameters on every mesh over its axes, what each device holds, and which chips fit.

A step, where one is given, is compiled on some meshes of each number of devices.

The model's init runs once, abstractly; each mesh is judged by the laws. Gradients have the bytes of the
parameters. The optimizer's state is asked of the optimizer: an array whose path ends in a parameter's, and
that has its shape, lies as that parameter does, any other is whole on each device.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from shardlint.confirm.init_request import MOST_DEVICES, Initialized
from shardlint.cost.chips import CHIPS, Chip
from shardlint.laws.core.values import AxisType, Mesh, Spec, entry_axes
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.report.init_run import init_report
from shardlint.report.per_device import LogicalRules
from shardlint.report.plan_changes import LayoutChange, SizeChange, layout_changes, size_changes
from shardlint.report.values import NamedMesh, Parameter, ParameterReport
from shardlint.support.lazy_dataclass import dataclass

#: The most meshes of one number of devices.
MOST_MESHES = 400


@dataclass(frozen=True, slots=True)
class Plan:
    """A mesh, and the bytes that each device holds on it.

    ``problems`` say which parameters the mesh cannot take: then their bytes are not counted. ``temporaries``
    are those of a compiled step, gradients and activations among them; None where it was not compiled.
    """

    mesh: Mesh
    parameters: int
    gradients: int
    optimizer: int
    problems: tuple[str, ...] = ()
    temporaries: int | None = None

    @property
    def total(self) -> int:
        """Return all bytes on a device."""
        return self.parameters + self.optimizer + max(self.gradients, self.temporaries or 0)

    @property
    def devices(self) -> int:
        """Return the number of devices."""
        return math.prod(size for size in self.mesh.sizes if isinstance(size, int))

    def fits(self, chip: Chip) -> bool:
        """Return whether a chip holds it; with nothing left for activations where no step was compiled."""
        return not self.problems and self.total <= chip.hbm


@dataclass(frozen=True, slots=True)
class Change:
    """The cheapest change of layouts with which a chip holds its part of the model on a mesh.

    Now that part exceeds the chip's memory by ``over`` bytes. ``layouts`` is empty if a few changes do not
    suffice.
    """

    chip: Chip
    plan: Plan
    over: int
    layouts: tuple[LayoutChange, ...]


@dataclass(frozen=True, slots=True)
class Plans:
    """All plans, by devices and bytes. ``blockers`` are problems with the number of meshes that they block,
    and of those that nothing else does; ``sizes`` are what to change about them, and ``changes`` what lets a
    smaller mesh fit. ``step`` was compiled on some meshes, and ``failures`` are why not on others.
    """

    init: str
    axes: tuple[str, ...]
    plans: tuple[Plan, ...]
    blockers: tuple[tuple[str, int, int], ...]
    whole: int
    jax: str
    optimizer: str | None = None
    sizes: tuple[SizeChange, ...] = ()
    changes: tuple[Change, ...] = ()
    step: str | None = None
    failures: tuple[str, ...] = ()

    def smallest(self, chip: Chip) -> Plan | None:
        """Return the plan with the fewest devices that a chip holds, of those on which the step is known."""
        fitting = (plan for plan in self.plans if plan.fits(chip))
        return next((plan for plan in fitting if self.step is None or plan.temporaries is not None), None)


def plans_of(
    init: str,
    made: Initialized,
    axes: Sequence[str],
    devices: Sequence[int],
    limit: int,
    logical: LogicalRules | None = None,
    optimizer: str | None = None,
    step: str | None = None,
    temporaries: Callable[[Sequence[Mesh]], Iterable[int | str]] = lambda meshes: (),
) -> Plans:
    """Return a plan for each mesh over the axes of each number of devices.

    ``temporaries`` compiles the ``step`` on some meshes, and returns bytes on each device, or what failed.
    """
    types = (AxisType.AUTO,) * len(axes)
    every_size = [sizes for count in devices for sizes in _sizes(count, len(axes))]
    meshes = [NamedMesh(str(sizes), Mesh(tuple(axes), sizes, types)) for sizes in every_size]
    report = init_report(init, [(named, made) for named in meshes], limit, logical).report
    holders = _holders(made, report)
    problems = [_problems(report, number) for number in range(len(meshes))]
    plans = []
    for number, (named, total) in enumerate(zip(meshes, report.totals, strict=True)):
        state = sum(_state_bytes(one, number) for one in holders)
        plans.append(Plan(named.mesh, total.device, total.device, state, tuple(problems[number])))
    every = Counter(problem for found in problems for problem in set(found))
    alone = Counter(found[0] for found in problems if len(set(found)) == 1)
    blockers = tuple((problem, count, alone[problem]) for problem, count in every.most_common())
    numbers = {plan.mesh: number for number, plan in enumerate(plans)}
    asked = list(_promising(plans)) if step is not None else []
    told = dict(zip((plan.mesh for plan in asked), temporaries([plan.mesh for plan in asked]), strict=False))
    measured = {mesh: size for mesh, size in told.items() if isinstance(size, int)}
    failures = tuple(dict.fromkeys(size for size in told.values() if isinstance(size, str)))
    plans = [replace(plan, temporaries=measured.get(plan.mesh)) for plan in plans]
    plans.sort(key=lambda plan: (plan.devices, bool(plan.problems), plan.temporaries is None, plan.total))
    whole = max((total.whole for total in report.totals), default=0)
    sizes = tuple(size_changes(report.parameters, [named.mesh for named in meshes]))
    found = Plans(
        init, tuple(axes), tuple(plans), blockers, whole, made.jax, optimizer, sizes, (), step, failures
    )
    return replace(found, changes=tuple(_changes(found, report, holders, numbers)))


def _promising(plans: Sequence[Plan]) -> Iterator[Plan]:
    """Yield meshes of each number of devices on which to compile a step: where parameters take least, most,
    and in between, since activations often are the other way about.
    """
    for count in sorted({plan.devices for plan in plans if plan.devices <= MOST_DEVICES}):
        ours = [plan for plan in plans if plan.devices == count and not plan.problems]
        ours.sort(key=lambda plan: plan.total)
        yield from dict.fromkeys((ours[0], ours[len(ours) // 2], ours[-1])) if ours else ()


def _changes(
    plans: Plans, report: ParameterReport, holders: Sequence[_Held], numbers: Mapping[Mesh, int]
) -> Iterator[Change]:
    """Yield for each chip what lets the next smaller number of devices hold the model."""
    for chip in CHIPS:
        fitting = plans.smallest(chip)
        counts = {plan.devices for plan in plans.plans if not plan.problems}
        smaller = [n for n in counts if fitting is None or n < fitting.devices]
        if not smaller:
            continue
        plan = next(plan for plan in plans.plans if plan.devices == max(smaller) and not plan.problems)
        number, over = numbers[plan.mesh], plan.total - chip.hbm
        state: Counter[str] = Counter()
        for held in holders:
            if held[0] is not None:
                state[held[0].path] += _state_bytes(held, number)
        layouts = layout_changes(report.parameters, state, number, plan.mesh, over)
        yield Change(chip, plan, over, tuple(layouts))


def axes_of(made: Initialized, meshes: Sequence[Mesh]) -> tuple[str, ...]:
    """Return the axes of the first mesh that a project deploys on; without one, those that specs name.

    A single one has "data" before it, along which everything is whole.
    """
    if meshes:
        return meshes[0].names
    specs = [array.names for array in made.arrays]
    specs += [rule.spec for rule in made.rules or ()]
    specs += list(made.chosen or ())
    named = [
        axis
        for spec in specs
        if isinstance(spec, Spec)
        for entry in spec.entries
        for axis in entry_axes(entry)
        if isinstance(axis, str)
    ]
    axes = tuple(dict.fromkeys(named))
    return axes if len(axes) != 1 or "data" in axes else ("data", *axes)


def _sizes(devices: int, axes: int) -> Iterator[tuple[int, ...]]:
    """Yield the sizes of axes that multiply to a number of devices."""

    def split(rest: int, left: int) -> Iterator[tuple[int, ...]]:
        if left == 1:
            yield (rest,)
            return
        for size in range(1, rest + 1):
            if rest % size == 0:
                for others in split(rest // size, left - 1):
                    yield (size, *others)

    for number, sizes in enumerate(split(devices, axes)):
        if number < MOST_MESHES:
            yield sizes


def _problems(report: ParameterReport, mesh: int) -> list[str]:
    """Return what JAX rejects, or what is not known, on a mesh; equal parameters of layers as one."""
    found = [
        f"{parameter.path}: {held.problem}"
        for parameter in report.parameters
        if (held := parameter.holdings[mesh]) is not None and held.problem is not None
    ]
    return list(dict.fromkeys(found))


#: An array of the optimizer's state: its parameter, shape and dtype.
_Held = tuple[Parameter | None, tuple[int, ...], str]


def _holders(made: Initialized, report: ParameterReport) -> list[_Held]:
    """Return for each array of an optimizer's state the parameter that it lies like."""
    parameters: dict[tuple[str, ...], Parameter] = {}
    rows = {(p.path, p.shape): p for p in report.parameters}
    for array in made.arrays:
        for separator in ("/", "."):
            if (row := rows.get((separator.join(array.path), array.shape))) is not None:
                parameters[array.path] = row
    found: list[_Held] = []
    for array in made.state:
        ends = (array.path[start:] for start in range(len(array.path)))
        like = next((parameters[end] for end in ends if end in parameters), None)
        same = like is not None and like.shape == array.shape
        found.append((like if same else None, array.shape, array.dtype))
    return found


def _state_bytes(held: _Held, mesh: int) -> int:
    like, shape, dtype = held
    holding = like.holdings[mesh] if like is not None else None
    if like is not None and (holding is None or holding.shard is None):
        return 0
    part = shape if holding is None or holding.shard is None else holding.shard
    return array_bytes(part, dtype) or 0


def cheapest_chips(plans: Plans) -> Iterator[tuple[Chip, Plan | None]]:
    """Yield each chip with the smallest plan that it holds."""
    for chip in CHIPS:
        yield chip, plans.smallest(chip)
