"""numpy's reductions of plain integers, such as the sizes in a shape, beside numpy."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.evaluation import evaluate_module

from shardlint.inference.domain.values import Const


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin"])
def test_a_reduction_of_integers_is_that_of_numpy(name: str) -> None:
    chance = random.Random(name)
    for _ in range(30):
        # Of few values, so that the most and the least are there more than once.
        sizes = chance.choices(range(1, 5), k=chance.randrange(1, 6))
        for written in (sizes, tuple(sizes)):
            found = evaluate_module(f"import numpy as np\nfound = np.{name}({written})\n").variables["found"]
            assert found == Const(int(getattr(np, name)(written))), (name, written)
