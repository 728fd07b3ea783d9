"""``isinstance`` of Python's own values and the abstract base classes, beside CPython."""

from __future__ import annotations

import collections.abc
import numbers
import typing

from support.checking import check

from shardlint.inference.overlays.python.builtins.objects import _ABSTRACT

VALUES = (
    "1",
    "True",
    "1.5",
    "1j",
    "'a'",
    "b'a'",
    "None",
    "(1, 2)",
    "[1]",
    "{'a': 1}",
    "{1, 2}",
    "frozenset((1,))",
    "()",
)
CLASSES = (
    *sorted(_ABSTRACT),
    "typing.Dict",
    "typing.List",
    "typing.Set",
    "typing.Tuple",
    "int",
    "(str, typing.Iterable)",
)


def test_python_agrees() -> None:
    lines = [
        "import collections.abc, numbers, typing",
        "import jax, jax.numpy as jnp, numpy as np",
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P",
        "mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))",
    ]
    cases = [(value, cls) for value in VALUES for cls in CLASSES]
    for value, cls in cases:
        size = f"8 if isinstance({value}, {cls}) else 7"
        lines.append(f"jax.device_put(jnp.zeros({size}), NamedSharding(mesh, P('model')))")
    found = check("\n".join(lines) + "\n")
    refused = {f.span.line for f in found if f.severity.value == "error"}
    names = {"collections": collections, "numbers": numbers, "typing": typing}
    for line, (value, cls) in enumerate(cases, 5):
        assert (line in refused) != eval(f"isinstance({value}, {cls})", dict(names)), (value, cls)
