"""`unittest` and `absl.testing.absltest`: skipped tests, and the methods of test cases."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import NONE, Const, LibraryObject, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.testing.marks import mark, marked
from shardlint.laws.core.values import Unknown

#: The classes of test cases that are known: none of them sets a mesh.
TEST_CASES = (
    "unittest.TestCase",
    "unittest.case.TestCase",
    "absl.testing.absltest.TestCase",
    "absl.testing.parameterized.TestCase",
    "jax._src.test_util.JaxTestCase",
    "jax._src.test_util.BufferDonationTestCase",
    "chex.TestCase",
)


def _skip(call: Call) -> Value:
    """``@unittest.skip``, with or without a reason."""
    if len(call.args) == 1 and not isinstance(call.args[0], Const):
        return marked(call.args[0], mark("skip"))
    return mark("skip")


def _skip_where(outcome: bool) -> Callable[[Call], Value]:
    def skipping(call: Call) -> Value:
        condition = call.argument(0, "condition")
        if condition is not None and truth(condition) is not None:
            condition = Const(truth(condition) is outcome)
        return mark("skipif", (Unknown("a condition") if condition is None else condition,))

    return skipping


def _expected_failure(call: Call) -> Value:
    """``@unittest.expectedFailure``."""
    return marked(call.args[0], mark("xfail")) if len(call.args) == 1 else Unknown(call.name)


# -- methods of test cases ----------------------------------------------------------------------------


def _nothing(call: Call) -> Value:
    return NONE


def _enter_context(call: Call) -> Value:
    """``self.enterContext(manager)``: entered until the test ends."""
    if len(call.args) != 2:
        return Unknown("what a context manager gives")
    return call.interpreter.enter(call.args[1], call.place)


def _sub_test(call: Call) -> Value:
    return LibraryObject("harmless", {"entered": NONE})


def _raising(message: int) -> Callable[[Call], Value]:
    """Return ``assertRaises(exception, ..., function, *args)`` with this many arguments in between."""

    def raising(call: Call) -> Value:
        function = call.args[2 + message :]
        if not function:
            return LibraryObject("expected", {})
        with call.interpreter.within(expected=True):
            call.interpreter.call(function[0], list(function[1:]), call.kwargs, call.place)
        return NONE

    return raising


#: Methods that only read their arguments.
_READING = (
    "assertEqual assertNotEqual assertTrue assertFalse assertIs assertIsNot assertIsNone "
    "assertIsNotNone assertIn assertNotIn assertIsInstance assertNotIsInstance assertAlmostEqual "
    "assertNotAlmostEqual assertGreater assertGreaterEqual assertLess assertLessEqual assertRegex "
    "assertNotRegex assertCountEqual assertMultiLineEqual assertSequenceEqual assertListEqual "
    "assertTupleEqual assertSetEqual assertDictEqual assertLen assertEmpty assertNotEmpty assertBetween "
    "assertStartsWith assertEndsWith assertSameElements assertSequenceAlmostEqual assertAllClose "
    "assertAllEqual assertArraysEqual assertArraysAllClose assertIsSubclass assertDeleted "
    "assertNotDeleted id shortDescription setUp tearDown setUpClass tearDownClass addCleanup"
).split()

_METHODS: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(_READING, _nothing),
    "enterContext": _enter_context,
    "enter_context": _enter_context,
    "enterClassContext": _enter_context,
    "subTest": _sub_test,
    "assertRaises": _raising(0),
    "assertRaisesRegex": _raising(1),
    "assertRaisesWithLiteralMatch": _raising(1),
}

METHODS = {(base, name): method for base in TEST_CASES for name, method in _METHODS.items()}

TABLE: dict[str, Callable[[Call], Value]] = {
    f"{module}.{name}": function
    for module in ("unittest", "absl.testing.absltest")
    for name, function in (
        ("skip", _skip),
        ("skipIf", _skip_where(True)),
        ("skipUnless", _skip_where(False)),
        ("expectedFailure", _expected_failure),
    )
}
