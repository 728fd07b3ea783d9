"""Random programs that compute in threads, under meshes that either thread sets, beside JAX.

shardlint finds an error exactly where JAX raises one in the thread.
"""

from __future__ import annotations

import random
import threading

import jax
import pytest
from support.checking import errors
from support.sizes import size

HEADER = """\
import threading
from concurrent.futures import ThreadPoolExecutor
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
flat = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
class Worker(threading.Thread):
    def __init__(self, function, x):
        super().__init__()
        self.function, self.x = function, x
    def run(self):
        self.function(self.x)
class Kept:
    def __init__(self, function):
        self.function, self.failure = function, None
    def work(self, x):
        try:
            self.function(x)
        except Exception as error:
            self.failure = error
"""
CONTEXTS = ("", "", "with jax.set_mesh(mesh):", "with mesh:", "with jax.set_mesh(flat):")
STARTS = (
    ["t = threading.Thread(target=work, args=(x,))", "t.start()", "t.join()"],
    ["t = threading.Thread(target=lambda: work(x), daemon=True)", "t.start()", "t.join()"],
    ["t = threading.Timer(0, work, kwargs={'x': x})", "t.start()", "t.join()"],
    ["t = Worker(work, x)", "t.start()", "t.join()"],
    ["with ThreadPoolExecutor() as pool:", "    pool.submit(work, x).result()"],
    ["with ThreadPoolExecutor(1, initializer=jax.set_mesh, initargs=(mesh,)) as pool:",
     "    pool.submit(work, x).result()"],
    ["with ThreadPoolExecutor() as pool:", "    list(pool.map(work, [x, x]))"],
    ["k = Kept(work)", "t = threading.Thread(target=k.work, args=[x])", "t.start()", "t.join()",
     "if k.failure is not None:", "    raise k.failure"],
    ["work(x)"],
)  # fmt: skip
BODIES = (
    'jax.jit(lambda v: jax.lax.with_sharding_constraint(v, P("x")))(x)',
    'jax.jit(lambda v: jax.lax.with_sharding_constraint(v, P("x", "y")))(x)',
    'jax.jit(lambda v: v * 2, in_shardings=P("y"))(x)',
    'jax.shard_map(lambda v: v * 2, in_specs=P("y"), out_specs=P("y"))(x)',
    'jax.device_put(x, NamedSharding(mesh, P("y")))',
    "x + 1",
)


def _program(rng: random.Random) -> str:
    around, own = rng.choice(CONTEXTS), rng.choice(CONTEXTS)
    lines = ["def work(x):", *([f"    {own}"] if own else [])]
    lines.append(f"{'        ' if own else '    '}{rng.choice(BODIES)}")
    lines.append(f"x = np.ones(({rng.choice((8, 8, 6))}, 8), np.float32)")
    lines += [around] if around else []
    lines += [f"{'    ' if around else ''}{line}" for line in rng.choice(STARTS)]
    return HEADER + "\n".join(lines) + "\n"


def _fails(program: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether JAX raises in any thread."""
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    try:
        exec(compile(program, "<random>", "exec"), {})
    except Exception:
        return True
    return bool(failures)


@pytest.mark.filterwarnings("ignore")
def test_errors_are_those_of_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(31)
    raised = 0
    for _ in range(count := size("SHARDLINT_THREAD_PROGRAMS", 150, 600)):
        program = _program(rng)
        due = _fails(program, monkeypatch)
        assert bool(errors(program)) is due, program
        raised += due
    assert count // 4 < raised < 3 * count // 4


def test_programs_leave_no_mesh_set() -> None:
    assert jax.sharding.get_abstract_mesh().empty
