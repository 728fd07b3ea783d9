"""A call that takes too many steps ends, and what comes after it is judged all the same."""

from __future__ import annotations

from typing import Any

import pytest
from support.checking import check, places

from shardlint.inference.domain.values import Const
from shardlint.inference.evaluation.budget import MAX_STEPS, Budget, Exhausted, Work
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.summaries import call_cache, replay

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


def found(program: str) -> list[tuple[str, int]]:
    return places(check(HEAD + program), HEAD)


@pytest.mark.parametrize("call", ["long([], 0)", "(lambda rows: long(rows, 0))([])"])
def test_what_comes_after_is_judged(call: str) -> None:
    placed = "jax.device_put(jnp.zeros((6, 8)), NamedSharding(mesh, P('model')))"
    program = f"def f():\n    {call}\n    return {placed}\n"
    assert found(program) == [("SHL202", 3)]


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
    assert found(program) == [("SHL202", 13)]


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


def spend(budget: Budget, steps: int, *works: Work) -> Work:
    """What a run spends that is given some works and takes so many steps itself."""
    outer = budget.open()
    for work in works:
        budget.take(work)
    budget.tick(steps)
    work, short = budget.close(outer)
    assert not short
    budget.settle(work, cached=True)
    return work


def test_a_run_is_counted_once_an_entry_with_all_that_is_in_it() -> None:
    budget = Budget()
    inner = spend(budget, 40)
    outer = spend(budget, 2, inner)
    for work in (inner, outer, outer):
        budget.take(work)
    assert budget.steps == 42
    budget.begin()
    budget.take(outer)
    budget.take(inner)
    assert budget.steps == 42


def test_what_is_not_given_again_counts_each_time() -> None:
    budget = Budget()
    for _ in range(3):
        outer = budget.open()
        budget.tick(7)
        budget.settle(budget.close(outer)[0], cached=False)
    assert budget.steps == budget.spent.own == 21


def test_a_run_that_is_not_surely_affordable_is_not_given_again() -> None:
    budget = Budget()
    large = spend(budget, MAX_STEPS // 2)
    budget.begin()
    assert budget.affords(large)
    budget.tick(MAX_STEPS // 2 + 1)
    assert not budget.affords(large)
    budget.begin()
    budget.take(large)
    budget.tick(MAX_STEPS // 2)
    # It is counted already.
    assert budget.affords(large)


def test_a_call_that_is_cut_short_leaves_something_for_what_comes_after() -> None:
    budget = Budget()
    with pytest.raises(Exhausted), budget.shared():
        budget.tick(MAX_STEPS)
    assert budget.short
    budget.begin()
    with budget.shared():
        assert not budget.affords(Work(MAX_STEPS - 1))
        budget.tick(MAX_STEPS // 2)
    budget.tick(MAX_STEPS // 2)


def test_work_that_becomes_another_says_so() -> None:
    inner = Work(3)
    work = Work(1, frozenset((inner,)))
    assert not work.become(Work(1, frozenset((inner,))))
    assert work.become(Work(2, frozenset((inner,))))
    assert work.become(Work(2))
    assert work.own == 2


@pytest.mark.parametrize("call", ["{0}(x)", "({0} if argument else {0})(x)"], ids=["plain", "one of two"])
def test_calls_that_double_at_each_level_end(call: str) -> None:
    # All in all f0 is called 2^16 times.
    program = "def f0(x):\n    return jax.device_put(x, NamedSharding(mesh, P('model')))\n"
    for level in range(1, 17):
        below = call.format(f"f{level - 1}")
        program += f"def f{level}(x, argument=None):\n    {below}\n    return {below}\n"
    program += "def f(argument):\n    return f16(jnp.zeros((6, 8)), argument)\n"
    assert found(program) == [("SHL202", 2)]


def test_uses_that_double_at_each_level_take_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "def f0(x, argument):\n    return jax.device_put(x, NamedSharding(mesh, P('data', 'data')))\n"
    for level in range(1, 15):
        program += (
            f"def f{level}(x, argument):\n    y = jnp.zeros((6, 8)) if argument else jnp.zeros((10, 8))\n"
            f"    return jax.jit(f{level - 1})(y, argument)\n"
        )
    program += "def f(argument):\n    return f14(jnp.zeros((6, 8)), argument)\n"
    recorded: list[int] = []
    record = replay.record

    def counted(interpreter: Any, uses: Any, notes: Any) -> None:
        record(interpreter, uses, notes)
        recorded.append(len(interpreter.uses))

    for module in (call_cache, replay):
        monkeypatch.setattr(module, "record", counted)
    assert found(program) == [("SHL102", 2)]
    assert max(recorded) < 2**15
