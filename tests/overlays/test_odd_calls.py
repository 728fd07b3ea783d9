"""Every function of an overlay is called in ways that make no sense, or that nobody knows: none fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.checking import check, codes

from shardlint.inference.overlays import registry

ARGUMENTS = (
    "",
    "*unknown.x",
    "**unknown.y",
    "unknown.x, *unknown.y, **unknown.z",
    "None",
    "1, 2, 3",
    "[], {}",
    "'', b''",
)
#: Arrays of ranks and sizes that a function may not expect, and too few of them.
_OF_ARRAYS = (
    "s", "v", "e", "v, ()", "m, [], ()", "v, []", "c, v", "[s, v], 0", "v, v, v", "m, m, (), ()",
    "e, v, (1,)",
)  # fmt: skip
_ARRAYS = """import jax, jax.numpy, jax.scipy, numpy, optax, flax.linen, flax.nnx, einops
s, v, e, m, c = map(jax.numpy.ones, ((), (3,), (0,), (2, 3), (2, 2, 2)))
"""
_PARTS = 16


def _names() -> list[str]:
    """Return the names that overlays know: functions, methods, classes and constants."""
    for library in registry._LIBRARIES:
        registry._load(library)
    tables = ("TABLE", "DEFAULTS", "CALLS", "CONSTANTS", "INSTANCES", "BASES")
    names = {name for table in tables for name in registry.merged(table) if isinstance(name, str)}
    return sorted(name for name in names if all(part.isidentifier() for part in name.split(".")))


#: Arguments with an array that is split, as a body of shard_map has it.
_OF_SHARDS = (
    "x", "x, x", "x=x", "a=x", "operand=x", "x, axis=0", "a=x, axis=(0, 1)", "x, 1, 2", "[x, x], axis=1",
)  # fmt: skip
_BODY = """import jax, jax.numpy, jax.scipy, numpy, optax, flax.linen, flax.nnx, einops
mesh = jax.sharding.Mesh(numpy.array(jax.devices()), ("d",))
@jax.shard_map(mesh=mesh, in_specs=jax.P("d"), out_specs=jax.P("d"))
def body(x):
"""


def _in_body(names: list[str]) -> str:
    calls = (f"{name}({arguments})" for name in names for arguments in _OF_SHARDS)
    lines = (f"    try:\n        {call}\n    except Exception:\n        pass\n" for call in calls)
    return f"{_BODY}{''.join(lines)}    return x\nbody(jax.numpy.ones((16, 8)))\n"


def _of_arrays(names: list[str]) -> str:
    modules = {name.rpartition(".")[0] for name in names}
    calls = (f"{name}({arguments})" for name in names for arguments in _OF_ARRAYS)
    lines = (f"try:\n    {call}\nexcept Exception:\n    pass\n" for call in calls)
    return _ARRAYS + "".join(f"import {module}\n" for module in modules) + "".join(lines)


def _program(names: list[str]) -> str:
    lines = ["import unknown"]
    for name in names:
        module = name.rpartition(".")[0]
        own = name.removeprefix("builtins.")
        lines += [f"import {module}"] if module and own == name else []
        lines += [f"try:\n    {own}({arguments})\nexcept Exception:\n    pass" for arguments in ARGUMENTS]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("part", range(_PARTS))
def test_odd_calls_end(part: int) -> None:
    names = _names()[part::_PARTS]
    assert len(names) > 100
    for start in range(0, len(names), 40):
        some = names[start : start + 40]
        if "SHL009" in codes(check(_program(some))):
            assert [name for name in some if "SHL009" in codes(check(_program([name])))] == []


@pytest.mark.parametrize("part", range(_PARTS))
@pytest.mark.parametrize("program", [_of_arrays, _in_body])
def test_odd_calls_on_arrays_end(program: Callable[[list[str]], str], part: int) -> None:
    libraries = ("jax.", "optax.", "flax.", "numpy.", "einops.")
    names = [name for name in _names() if name.startswith(libraries)][part::_PARTS]
    assert len(names) > 50
    for start in range(0, len(names), 40):
        some = names[start : start + 40]
        if "SHL009" in codes(check(program(some))):
            assert [name for name in some if "SHL009" in codes(check(program([name])))] == []
