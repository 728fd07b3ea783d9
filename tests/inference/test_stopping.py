"""An analysis that nobody waits for any more ends at its next step, and leaves nothing half done behind."""

from __future__ import annotations

import importlib
import threading
import time

import pytest

from shardlint.api import Linter, Settings, editing, source_from_text

#: Seconds of work: calls whose arguments are all different.
LONG = "import jax\nfrom jax.sharding import PartitionSpec as P\n\n" + "".join(
    f"def f{number}(x, n):\n    for i in range(60):\n        for j in range(60):\n            x = x + i * n\n"
    f"    return P('data', *[None] * n)\n\n\ny{number} = f{number}(1, {number})\n"
    for number in range(20)
)
SHORT = LONG[: LONG.index("def f3(")]


def found(text: str) -> list[str]:
    analysis = Linter(Settings()).analysis(source_from_text("long.py", text))
    return [repr(use) for use in analysis.uses]


def test_an_analysis_is_stopped() -> None:
    before = found(SHORT)
    stop = editing.Stop()
    threading.Timer(0.2, stop.ask).start()
    start = time.monotonic()
    with pytest.raises(editing.Stopped), editing.stoppable(stop):
        found(LONG)
    stopped = time.monotonic() - start
    start = time.monotonic()
    found(LONG)
    whole = time.monotonic() - start
    assert stopped < whole / 2
    assert len(found(SHORT)) == len(before)


def test_a_wish_holds_for_its_analysis_only() -> None:
    stop = editing.Stop()
    stop.ask()
    with pytest.raises(editing.Stopped), editing.stoppable(stop):
        found(SHORT)
    assert found(SHORT)
    with editing.stoppable(editing.Stop()):
        assert found(SHORT)


MANY = "from jax.sharding import PartitionSpec as P\n" + 'P("")\n' * 3


@pytest.mark.parametrize("step", ["shardlint.rules.engine._finding", "shardlint.rules.fixes.with_fix"])
def test_what_follows_the_evaluation_is_stopped_too(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file with many findings the rules and the fixes take as long as the evaluation."""
    stop, steps = editing.Stop(), 0
    where, _, name = step.rpartition(".")
    module = importlib.import_module(where)
    work = getattr(module, name)

    def asking(*given: object) -> object:
        nonlocal steps
        steps += 1
        stop.ask()
        return work(*given)

    monkeypatch.setattr(module, name, asking)
    with pytest.raises(editing.Stopped), editing.stoppable(stop):
        Linter(Settings()).analysis(source_from_text("many.py", MANY))
    assert steps == 1
