"""A call that takes too many steps ends, and what comes after it is judged all the same."""

from __future__ import annotations

import pytest

from shardlint.api import Linter, Settings, source_from_text
from shardlint.inference.context import Scope
from shardlint.inference.values import Const

HEAD = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def step(rows, n):
    rows.append(n)
    return n + 1
def long(rows, n):
    for i in range(64):
        for j in range(64):
            for k in range(64):
                n = step(rows, n)
    return n
"""


def found(program: str) -> list[tuple[int, str]]:
    findings = Linter(Settings(devices=8)).check_source(source_from_text("program.py", HEAD + program))
    return [(f.span.line - HEAD.count("\n"), f.code) for f in findings]


@pytest.mark.parametrize("call", ["long([], 0)", "(lambda rows: long(rows, 0))([])"])
def test_what_comes_after_is_judged(call: str) -> None:
    placed = "jax.device_put(jnp.zeros((6, 8)), NamedSharding(mesh, P('model')))"
    program = f"def f():\n    {call}\n    return {placed}\n"
    assert found(program) == [(3, "SHL202")]


def test_what_it_may_change_is_not_known() -> None:
    program = (
        "def f():\n"
        "    rows = [6]\n"
        "    n = long(rows, 0)\n"
        "    jax.device_put(jnp.zeros((len(rows), 8)), NamedSharding(mesh, P('model')))\n"
        "    jax.device_put(jnp.zeros((n + 1, 8)), NamedSharding(mesh, P('model')))\n"
    )
    assert found(program) == []


@pytest.mark.parametrize("first", ["rows", "sets"])
def test_what_functions_that_it_names_may_change_is_not_known(first: str) -> None:
    # One of them sets a variable that another reads, whichever is looked at first.
    names = ("rows", "sets") if first == "rows" else ("sets", "rows")
    calls = "".join(f"    use_{name}()\n" for name in names)
    program = (
        "table, size, other = [6], 6, [6]\n"
        "def use_rows():\n    table.append(0)\n"
        "def use_sets():\n    global size\n    size = len(table)\n"
        f"def more(n):\n{calls}    return long([], n)\n"
        "more(0)\n"
        "def put(n):\n    jax.device_put(jnp.zeros((n, 8)), NamedSharding(mesh, P('model')))\n"
        "put(len(table))\nput(size)\nput(len(other))\n"
    )
    assert [line for line, _ in found(program)] == [13]


def test_all_that_a_scope_sees_is_what_it_finds() -> None:
    module, of_class = Scope(None), Scope(None)
    of_class.is_class, of_class.parent = True, module
    method, inner = Scope(None, of_class), Scope(None)
    inner.parent = method
    module.variables = {"a": Const(1), "b": Const(2), "c": Const(3)}
    of_class.variables = {"b": Const(4), "d": Const(5)}
    method.variables = {"a": Const(6), "c": Const(7), "e": Const(8)}
    method.declared_global = {"c", "d", "x"}
    inner.variables = {"e": Const(9)}
    names = frozenset("abcdex")
    for scope in (module, of_class, method, inner):
        found = {name: holder.variables[name] for name, holder in scope.find_all(names)}
        assert scope.seen() == found
