"""Random modules of tests: what shardlint finds in each beside what pytest itself reports of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from reports import found_by_shardlint, reported_by_pytest
from support.sizes import size

CONFTEST = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax, pytest
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

def made(shape):
    return jax.make_mesh(shape, ("x", "y"), axis_types=(AxisType.Auto,) * 2)

@pytest.fixture(scope="module")
def wide():
    return made((4, 2))

@pytest.fixture(params=[(2, 4), (4, 2)], ids=str)
def either(request):
    return made(request.param)

@pytest.fixture
def size():
    return 8

@pytest.fixture(name="asked")
def named_otherwise(size):
    return size + 2

@pytest.fixture
def entered(wide):
    with jax.set_mesh(wide):
        yield

@pytest.fixture
def skipping():
    pytest.skip("not here")
"""
HEAD = """
import unittest
import jax, pytest
import jax.numpy as jnp
from absl.testing import parameterized
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from conftest import made

WIDE = made((4, 2))

def put(n, mesh, *entries):
    jax.device_put(jnp.ones(n), NamedSharding(mesh, P(*entries)))

def need(count):
    if jax.device_count() < count:
        pytest.skip("too few devices")
"""
SIZES = (4, 6, 7, 8, 12, (8, 6), (6, 8), (4, 3))
ENTRIES = ('"x"', '"y"', 'None, "y"', '("x", "y")', "")


def _marks(rng: random.Random) -> list[str]:
    found = rng.choice(
        ("", "", "", "", "", "skip", "skipif(True, reason='x')", "skipif(False, reason='x')", "xfail",
         "xfail(reason='x', strict=False)", "slow_one")
    )  # fmt: skip
    return [f"@pytest.mark.{found}"] if found else []


def _sizes(rng: random.Random, count: int) -> list[object]:
    return [rng.choice(SIZES) for _ in range(count)]


def _parametrized(rng: random.Random) -> str:
    """Return a parametrization of ``n``, perhaps with sets that are skipped or expected to fail."""
    values = [
        f"pytest.param({size!r}, marks=pytest.mark.{mark})" if mark else repr(size)
        for size in _sizes(rng, rng.randint(1, 3))
        for mark in (rng.choice(("", "", "", "xfail", "skip")),)
    ]
    names = rng.choice(('"n"', '["n"]', 'argnames="n", argvalues='))
    listed = names == '["n"]'
    joined = ", ".join(f"({value},)" if listed and "param" not in value else value for value in values)
    joined = f"[{joined}]"
    return f"@pytest.mark.parametrize({names}{'' if names.endswith('=') else ', '}{joined})"


def _pytest_test(rng: random.Random, name: str, method: bool) -> list[str]:
    """Return a test of pytest's, a function or a method."""
    lines, asked, mesh = _marks(rng), [], rng.choice(("WIDE", "wide", "either"))
    n = repr(rng.choice(SIZES))
    kind = rng.choice(("literal", "fixture", "renamed", "parametrize", "both", "indirect"))
    if kind == "fixture":
        asked.append("size")
        n = "size"
    elif kind == "renamed":
        asked.append("asked")
        n = "asked"
    elif kind == "parametrize":
        lines.append(_parametrized(rng))
        asked.append("n")
        n = "n"
    elif kind == "both":
        lines += [f'@pytest.mark.parametrize("n, entry", {[(s, rng.choice("xy")) for s in _sizes(rng, 2)]})']
        lines += ['@pytest.mark.parametrize("spare", [(), (None,)])'] if rng.random() < 0.5 else []
        asked += ["n", "entry", *(["spare"] if len(lines) > 1 and "spare" in lines[-1] else [])]
        n = "n"
    elif kind == "indirect":
        lines.append('@pytest.mark.parametrize("either", [(8, 1), (1, 8)], indirect=True)')
        mesh = "either"
    if mesh != "WIDE":
        asked.append(mesh)
    entries = "entry" if kind == "both" else rng.choice(ENTRIES)
    body = [f"put({n}, {mesh}{', ' if entries else ''}{entries})"]
    if rng.random() < 0.2:
        body = [f"need({rng.choice((4, 16))})", *body]
    if rng.random() < 0.2:
        asked.append("entered")
        body = [f"jax.device_put(jnp.ones({n}), P({entries}))"]
    if rng.random() < 0.1:
        asked.append("skipping")
    if rng.random() < 0.2:
        body = ["with pytest.raises(ValueError):", *(f"    {line}" for line in body), "    raise ValueError"]
    if rng.random() < 0.2:
        lines.append('@pytest.mark.usefixtures("wide")')
    rng.shuffle(asked)
    rng.shuffle(lines)
    return [
        *lines,
        f"def {name}({', '.join([*['self'] * method, *asked])}):",
        *(f"    {line}" for line in body),
    ]


def _class(rng: random.Random, number: int) -> list[str]:
    """Return a class of pytest's, with what sets it up."""
    tests = [_pytest_test(rng, f"test_{number}_{i}", method=True) for i in range(3)]
    lines = [line for test in tests for line in test]
    if rng.random() < 0.5:
        lines += ["@pytest.fixture", "def size(self, size):", f"    return size + {rng.choice((1, 4))}"]
    setting = rng.choice(("setup_method(self)", "setup_method(self, method)", "fixture"))
    if setting == "fixture":
        lines += ["@pytest.fixture(autouse=True)", "def prepare(self, either):", "    self.mesh = either"]
    else:
        lines += [f"def {setting}:", "    self.mesh = WIDE"]
    lines += [f"def test_{number}_own(self):", f"    put({rng.choice(SIZES)}, self.mesh, 'x')"]
    marks = _marks(rng) if rng.random() < 0.4 else []
    return [*marks, f"class Test{number}:", *(f"    {line}" for line in lines)]


_DECORATORS = (
    "",
    "",
    '@unittest.skip("x")',
    "@unittest.skipIf(jax.device_count() < 9, 'x')",
)


def _case(rng: random.Random, number: int) -> list[str]:
    """Return a test case of unittest or absl."""
    absl = rng.random() < 0.6
    base = "parameterized.TestCase" if absl else "unittest.TestCase"
    lines = ["count = 4", "@classmethod", "def setUpClass(cls):", "    super().setUpClass()"]
    lines += [f"    cls.mesh = made({rng.choice(((2, 4), (4, 2)))})"]
    lines += ["def setUp(self):", "    super().setUp()", f"    self.size = self.count + {rng.choice((0, 2))}"]
    if rng.random() < 0.5:
        lines.append("    self.enterContext(jax.set_mesh(self.mesh))")
        last = f"jax.device_put(jnp.ones(self.size), P({rng.choice(ENTRIES)}))"
    else:
        last = "put(self.size, self.mesh, 'x')"
    for i in range(3):
        decorator = rng.choice(_DECORATORS)
        if absl and not decorator:
            first, second = _sizes(rng, 2)
            decorator = rng.choice(
                (
                    f"@parameterized.parameters(({first!r}, 'x'), ({second!r}, 'y'))",
                    f"@parameterized.parameters([({first!r}, 'x'), ({second!r}, 'y')])",
                    f"@parameterized.parameters(dict(n={first!r}, axis='x'))",
                    f"@parameterized.parameters((n, 'x') for n in ({first!r}, {second!r}))",
                    f"@parameterized.named_parameters(('a', {first!r}, 'x'), ('b', {second!r}, 'y'))",
                    f"@parameterized.named_parameters(dict(testcase_name='_a', n={first!r}, axis='y'))",
                    f"@parameterized.product(n=[{first!r}, {second!r}], axis=('x', 'y'))",
                    f"@parameterized.product([dict(n={first!r}), dict(n={second!r})], axis=('x', 'y'))",
                )
            )
            lines += [decorator, f"def test_{number}_{i}(self, n, axis):", "    put(n, self.mesh, axis)"]
            continue
        body = rng.choice(
            (
                last,
                f"put({rng.choice(SIZES)}, self.mesh, 'y')",
                f"with self.subTest(n=1):\n            put({rng.choice(SIZES)}, WIDE, 'x')",
                "self.assertRaises(ValueError, put, 3, WIDE, 'x')",
                "with self.assertRaises(ValueError):\n            put(3, WIDE, 'x')",
                "need(16)\n        put(3, WIDE, 'x')",
                "self.skipTest('x')\n        put(3, WIDE, 'x')",
            )
        )
        lines += [*([decorator] if decorator else []), f"def test_{number}_{i}(self):", f"    {body}"]
    found = [f"class Case{number}({base}):", *(f"    {line}" for line in lines)]
    if rng.random() < 0.5:
        found += [f"class Derived{number}(Case{number}):", f"    count = {rng.choice((5, 6, 8))}"]
    return found


def _module(rng: random.Random) -> str:
    lines: list[str] = []
    if rng.random() < 0.5:
        lines += ["@pytest.fixture", "def size(size):", f"    return size * 2 - {rng.choice((0, 1, 2))}"]
    for number in range(12):
        made = rng.choice((_class, _case, None, None))
        lines += _pytest_test(rng, f"test_{number}_f", method=False) if made is None else made(rng, number)
    return HEAD + "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(size("SHARDLINT_TEST_MODULES", 2, 6)))
def test_random_modules(seed: int, tmp_path: Path) -> None:
    text = _module(random.Random(f"modules {seed}"))
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_random.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow_one: a mark of our own\n")
    failed, ran = reported_by_pytest(tmp_path / "test_random.py")
    assert failed < ran
    assert found_by_shardlint(tmp_path / "test_random.py") == failed, text
