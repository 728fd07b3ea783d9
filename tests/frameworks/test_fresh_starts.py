"""Each test of a file begins with what its modules' top level left, as when it is run alone."""

from __future__ import annotations

import pytest
from support.checking import codes, errors

HEAD = """
import unittest
import jax
import jax.numpy as jnp
import numpy as np
from elsewhere import unseen
from absl.testing import absltest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

class Helper:
    active = []

    def __init__(self, names):
        self.mesh = Mesh(np.array(jax.devices()).reshape(2, 4), names)

    def __enter__(self):
        Helper.active.append(self)

    def __exit__(self, *error):
        Helper.active.pop()

def sharding(helper):
    with helper:
        return NamedSharding(Helper.active[-1].mesh, P("x"))
"""
CASES = """
class {name}Test({base}):
    def test_one(self):
        helper = Helper(("x", "y"))
        with self.assertRaises(ValueError):
            unseen(helper, Helper.active)
            sharding(helper)

    def test_two(self):
        sharding(Helper(("x", "y")))

    def test_three(self):
        sharding(Helper(("a", "b")))
"""


@pytest.mark.parametrize("base", ["unittest.TestCase", "absltest.TestCase"])
def test_tests_begin_with_what_the_module_left(base: str) -> None:
    text = HEAD + "\n" + CASES.format(name="Own", base=base)
    assert codes(errors(text, "helper_test.py")) == ["SHL103"]


def test_a_hook_of_the_module_is_run_before_each_test() -> None:
    text = (
        HEAD
        + """
names = None

def setUpModule():
    global names
    names = ("x", "y")

class FirstTest(unittest.TestCase):
    def test_one(self):
        global names
        sharding(Helper(names))
        names = ("a", "b")

    def test_two(self):
        sharding(Helper(names))
"""
    )
    assert not errors(text, "helper_test.py")
