"""Tests of a module, run as unittest, absl and pytest run them, each case from a fresh start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import class_attribute, library_bases, lineage
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    Const,
    Function,
    Instance,
    LibraryObject,
    Never,
    Value,
    as_bool,
)
from shardlint.inference.evaluation.context import Context
from shardlint.inference.overlays.testing.marks import (
    MARKS,
    args_of,
    marks_in,
    marks_of,
    name_of,
    option_of,
    skips,
)
from shardlint.inference.overlays.testing.unittest import TEST_CASES
from shardlint.inference.programs.testing.cases import Case, cases_of
from shardlint.inference.programs.testing.fixtures import (
    Fixtures,
    Levels,
    Skipped,
    automatic,
    closure,
    fixtures_in,
    fixtures_of,
    inner,
    needed,
)
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine
    from shardlint.inference.machine.module_run import ModuleRun

_TEST_FILE = re.compile(r"(?:test_.*|.*_tests?|tests?)\.py", re.IGNORECASE)
#: A file that runs its own test cases.
_RUNS_TESTS = re.compile(
    r"\b(?:unittest|absltest|googletest)\."
    r"(?:main|TextTestRunner|TestResult|TestSuite|TestLoader|defaultTestLoader)\b"
)
#: What runs before and after the tests of a class or module.
HOOKS = frozenset(
    (
        "setUp setUpClass setUpModule tearDown tearDownClass tearDownModule asyncSetUp "
        "asyncTearDown setup_module setup_class setup_method setup_function teardown_module "
        "teardown_class teardown_method teardown_function"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Test:
    """A test: a function of a module, or of a class, as its decorators left it."""

    function: Function
    value: Value
    cls: ClassValue | None
    is_case: bool
    levels: Levels
    marks: tuple[LibraryObject, ...]

    @property
    def asks(self) -> list[str]:
        """Return the names of the fixtures that it uses, in the order in which pytest evaluates them."""
        used = [name for mark in self.marks if name_of(mark) == "usefixtures" for name in _texts(mark)]
        asked = [] if self.is_case else needed(self.function, self.cls is not None)
        return list(dict.fromkeys([*automatic(self.levels), *used, *asked]))


def _texts(mark: LibraryObject) -> Iterator[str]:
    for arg in args_of(mark):
        if isinstance(arg, Const) and isinstance(arg.value, str):
            yield arg.value


def is_test_file(path: str) -> bool:
    """Return whether pytest finds tests in a file, by its name."""
    return _TEST_FILE.fullmatch(Path(path).name) is not None


class Tests:
    """The tests of a module; ``conftests`` are those whose fixtures they see, nearest first."""

    def __init__(self, interpreter: Machine, run: ModuleRun, conftests: Sequence[ModuleRun]) -> None:
        self._interpreter, self._run = interpreter, run
        self._named = is_test_file(run.source.path)
        self._main = self._named or _RUNS_TESTS.search(run.text) is not None
        self._conftests = conftests
        self._levels: Levels | None = None
        self._found: dict[int, tuple[Function, list[Test]]] = {}

    def is_hook(self, function: Function) -> bool:
        """Return whether tests run a function before or after them: a hook, or a fixture."""
        if not self._main:
            return False
        return function.name in HOOKS or any(
            one.function is function for level in self._module_levels for one in level.values()
        )

    def of(self, function: Function) -> list[Test]:
        """Return the tests that run a function: one, or one for each class that inherits it."""
        if not self._main or not self._may_be_test(function):
            return []
        if id(function) not in self._found:
            self._found[id(function)] = (function, list(self._tests(function)))
        return self._found[id(function)][1]

    def inherited(self) -> Iterator[Function]:
        """Yield the test methods that classes of the module have from classes of other modules."""
        variables = self._run.scope.variables if self._main else {}
        for cls in dict.fromkeys(one for one in variables.values() if isinstance(one, ClassValue)):
            if _kind(cls, self._named) is None:
                continue
            for base in lineage(cls):
                for value in base.attributes.values() if isinstance(base, ClassValue) else ():
                    function = inner(value)
                    if function is None or not self._may_be_test(function):
                        continue
                    if function.scope.root.module is not self._run:
                        yield function

    @staticmethod
    def _may_be_test(function: Function) -> bool:
        return function.name.startswith("test")

    def reached(self, function: Function) -> Iterator[Value]:
        """Yield what the tests of a function run besides it: hooks, fixtures, and parameters."""
        variables = self._run.scope.variables
        for test in self.of(function):
            yield test.value
            yield from test.marks
            yield from (one.function for _, one in closure(test.levels, test.asks))
            holders = [variables] if test.cls is None else [variables, *_attributes(test.cls)]
            yield from (found for one in holders for name, found in one.items() if name in HOOKS)

    @property
    def _module_levels(self) -> Levels:
        if self._levels is None:
            runs = (self._run, *self._conftests)
            self._levels = [fixtures_in(run.scope.variables) for run in runs]
        return self._levels

    def _tests(self, function: Function) -> Iterator[Test]:
        variables = self._run.scope.variables
        module = tuple(marks_in(variables.get(MARKS)))
        if any(map(skips, module)):
            return
        if function.owner is None:
            value = variables.get(function.name)
            if self._named and value is not None and inner(value) is function:
                levels, marks = self._module_levels, (*marks_of(value), *module)
                if not any(map(skips, marks)):
                    yield Test(function, value, None, False, levels, marks)
            return
        classes = dict.fromkeys(one for one in variables.values() if isinstance(one, ClassValue))
        for cls in classes:
            if function.owner in lineage(cls) and (kind := _kind(cls, self._named)) is not None:
                value = class_attribute(cls, function.name)
                marks = (*marks_of(value), *marks_of(cls), *module)
                if value is not None and inner(value) is function and not any(map(skips, marks)):
                    yield Test(function, value, cls, kind, [fixtures_of(cls), *self._module_levels], marks)

    # -- running -------------------------------------------------------------------------------------

    def run(self, function: Function) -> None:
        """Run all tests of a function, each with all its cases, as their framework does."""
        i, before = self._interpreter, self._interpreter.context
        for test in self.of(function):
            params = [
                (name, given)
                for name, one in closure(test.levels, test.asks)
                if (given := option_of(one.mark, "params")) is not None
            ]
            cases = cases_of(test.marks, params)
            failing = any(name_of(mark) == "xfail" for mark in test.marks)
            for case in cases:
                text = case.text(test.function.code.parameters[1][test.cls is not None :])
                text = text if len(cases) > 1 else None
                if test.cls is not None and function.scope.root.module is not self._run:
                    text = f"in `{test.cls.name}`" + (f", {text}" if text is not None else "")
                i.context = replace(
                    before,
                    expected=before.expected or failing or case.fails,
                    entry=text,
                    test=True,
                )
                if test.cls is not None and _may_set_mesh(test.cls):
                    i.context = _with_unknown_mesh(i.context)
                try:
                    self._run_case(test, case)
                except Skipped:
                    i.reached.add(function.code.key)
                finally:
                    i.context = before

    def _run_case(self, test: Test, case: Case) -> None:
        """Set up and run one case of a test. Raises Skipped."""
        i, place = self._interpreter, NodePlace(test.function.code.unit, test.function.code.node)
        variables = self._run.scope.variables
        for name in ("setUpModule", "setup_module"):
            _call(i, variables.get(name), [], place)
        cls, instance = None, None
        if test.cls is not None:
            # What sets up the class sets attributes of it, for this test only.
            cls = ClassValue(test.cls.name, (test.cls,), {}, origin=test.cls.origin, module=test.cls.module)
            EFFECTS.lone[cls.born] = 0
            for name in ("setUpClass", "setup_class"):
                _call(i, _hook(cls, name), [], place, cls)
            made = i.call(cls, [], {}, place)
            instance = made if isinstance(made, Instance) else Instance(cls, {}, opaque=True)
        fixtures = Fixtures(i, test.levels, case.requests, instance, place)
        given = {name: fixtures.get(name) for name in test.asks if name not in case.kwargs}
        if cls is None:
            _call(i, variables.get("setup_function"), [], place)
        for name in ("setUp", "setup_method") if cls is not None else ():
            _call(i, _hook(cls, name), [], place, instance)
        wanted = [] if test.is_case else needed(test.function, test.cls is not None)
        kwargs = {name: given[name] for name in wanted if name in given} | dict(case.kwargs)
        called: Value = test.value
        if instance is not None and not _is_static(class_attribute(instance.cls, test.function.name)):
            called = Bound(test.value, instance)
        i.call(called, list(case.args), kwargs, place, opaque=case.open)


def _hook(cls: ClassValue | None, name: str) -> Value | None:
    return None if cls is None else class_attribute(cls, name)


def _call(
    interpreter: Machine, hook: Value | None, args: list[Value], place: Place, receiver: Value | None = None
) -> None:
    """Call a hook, if there is one. Raises Skipped."""
    if hook is None:
        return
    if isinstance(hook, LibraryObject) and hook.kind in ("builtins.classmethod", "builtins.staticmethod"):
        hook = hook.fields["function"]
    function = inner(hook)
    if function is None:
        return
    called: Value = hook if receiver is None else Bound(hook, receiver)
    # pytest passes the module, or the test, to the hooks that take it.
    wanted = len(needed(function, receiver is not None))
    given = [Unknown("the test that is set up") for _ in range(wanted - len(args))]
    if isinstance(interpreter.call(called, [*args, *given], {}, place), Never):
        raise Skipped


def _is_static(value: Value | None) -> bool:
    return isinstance(value, LibraryObject) and value.kind == "builtins.staticmethod"


def _attributes(cls: ClassValue) -> list[dict[str, Value]]:
    return [base.attributes for base in lineage(cls) if isinstance(base, ClassValue)]


def _kind(cls: ClassValue, named: bool) -> bool | None:
    """Return True for a class of test cases, False for a class of pytest's, None for others."""
    if as_bool(class_attribute(cls, "__test__")) is False:
        return None
    if any(base.rpartition(".")[2].endswith("TestCase") for base in library_bases(cls)):
        return True
    plain = cls.name.startswith("Test") and named and class_attribute(cls, "__init__") is None
    return False if plain and class_attribute(cls, "__new__") is None else None


def _may_set_mesh(cls: ClassValue) -> bool:
    """Return whether what sets up a class may be code that is not seen."""
    return not all(
        isinstance(base, ClassValue) or getattr(base, "name", "") in _PLAIN for base in lineage(cls)
    )


_PLAIN = frozenset((*TEST_CASES, "builtins.object", "abc.ABC", "typing.Generic"))


def _with_unknown_mesh(context: Context) -> Context:
    unknown = Unknown("what sets up the test may set a mesh")
    return replace(context, mesh=unknown, legacy_mesh=unknown)
