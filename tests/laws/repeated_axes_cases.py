"""Meshes that repeat an axis name: drawn, with specs on them, and run by JAX in a process that may die.

usage: python tests/laws/repeated_axes_cases.py COUNT SEED START, which prints what became of each case.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys

from judging import Case
from real_jax import attempt

from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec
from shardlint.laws.core.verdicts import Api
from shardlint.laws.placement.repeated_axes import LAYING_OUT


def draw_cases(count: int, seed: int) -> list[Case]:
    """Cases of each API in turn; what is split is even."""
    rng = random.Random(seed)
    apis = sorted(LAYING_OUT)
    return [_case(rng, apis[index % len(apis)]) for index in range(count)]


def _case(rng: random.Random, api: Api) -> Case:
    names: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    while len(set(names)) == len(names) or math.prod(sizes) > 8:
        names = tuple(rng.choice("xyz") for _ in range(rng.choice((2, 2, 3))))
        sizes = tuple(rng.choice((1, 2, 2, 4)) for _ in names)
    free = sorted({*names, *(["w"] if rng.random() < 0.2 else [])})
    rng.shuffle(free)
    entries: list[Entry] = []
    rank = 1 if api is Api.ARANGE else 2
    for _ in range(rank):
        count = rng.choice((0, 1, 1, 2))
        axes, free = tuple(free[:count]), free[count:]
        entries.append(axes[0] if len(axes) == 1 else axes or None)
    kind = AxisType.EXPLICIT if rng.random() < 0.2 else AxisType.AUTO
    mesh = Mesh(names, sizes, (kind,) * len(names))
    return Case(api, mesh, Spec(tuple(entries)), (64,) * rank, under=rng.random() < 0.3)


def outcomes(count: int, seed: int) -> list[str]:
    """What JAX does with each case: ``accepts``, ``raises`` or ``dies``."""
    found: list[str] = []
    while len(found) < count:
        command = [sys.executable, __file__, str(count), str(seed), str(len(found))]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        found += [*told, "dies"][: count - len(found)]
    return found


def main() -> None:
    """Run cases from one on, as long as the process lives."""
    count, seed, start = map(int, sys.argv[1:])
    for case in draw_cases(count, seed)[start:]:
        assert isinstance(case.mesh, Mesh) and isinstance(case.spec, Spec) and isinstance(case.shape, tuple)
        ran = attempt(case.api, case.mesh, case.spec, case.shape, raw=False, under=bool(case.under))  # type: ignore[arg-type]
        print("accepts" if ran.ok else "raises", flush=True)


if __name__ == "__main__":
    main()
