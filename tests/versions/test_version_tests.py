"""A program's own tests of the version of JAX: CPython runs it beside every release, made of two names."""

from __future__ import annotations

import importlib.metadata
import itertools
import sys
import types
from typing import Any

import pytest
from support.checking import check

from shardlint.laws.versions import RELEASES, Release, Target

_HEAD = """
import importlib
import importlib.metadata
import re
import jax, operator
from importlib.metadata import version as installed
from packaging import version
from packaging.version import Version, parse


def numbers(text):
    return tuple(int(part) for part in text.split(".")[:3])


def module_version(name):
    return numbers(importlib.metadata.version(name))


def of_module(name):
    return version.parse(importlib.import_module(name).__version__)


def at_least(*wanted):
    return jax.__version_info__ >= wanted


def lost(text):
    return eval(repr(numbers(text)))

"""
#: Whether the new name is there, in many words; and whether it is evaluated exactly.
_TESTS: dict[str, bool] = {
    "jax.__version_info__ >= (0, 8, 2)": True,
    "not jax.__version_info__ < (0, 8, 2)": True,
    "(0, 8, 2) <= jax.__version_info__": True,
    "jax.__version_info__[:2] >= (0, 9)": True,
    "jax.version.__version_info__ > (0, 8, 1)": True,
    "numbers(jax.__version__) >= (0, 8, 2)": True,
    'module_version("jax") >= (0, 8, 2)': True,
    'numbers(installed("jax")) >= numbers("0.8.2")': True,
    'list(map(int, jax.__version__.split("."))) >= [0, 8, 2]': True,
    'int(jax.__version__.split(".")[1]) > 8': True,
    "jax.__version_info__[1] >= 9": True,
    "operator.ge(jax.__version_info__, (0, 8, 2))": True,
    "not operator.lt(jax.__version_info__[:2], (0, 9))": True,
    'parse(jax.__version__) >= parse("0.8.2")': True,
    'Version(jax.__version__) > Version("0.8.1")': True,
    'Version(jax.__version__) >= Version("0.9")': True,
    'of_module("jax") >= Version("0.8.2")': True,
    "Version(jax.__version__).release >= (0, 8, 2)": True,
    "Version(jax.__version__).minor >= 9": True,
    "at_least(0, 8, 2)": True,
    'jax.__version__ in ("0.8.2", "0.8.3") or at_least(0, 9)': False,
    "lost(jax.__version__) >= (0, 8, 2)": False,
    'lost(installed("jax")) >= (0, 8, 2)': False,
    'tuple(map(int, re.split("[.]", jax.__version__))) >= (0, 8, 2)': False,
    # What is wrong is found.
    "jax.__version_info__ >= (0, 8, 0)": True,
    'jax.__version__ >= "0.7.2"': True,
    'module_version("jax") >= (0, 7)': True,
    'parse(jax.__version__) > parse("0.7.0")': True,
}
#: How a program goes by a test.
_FORMS = (
    "def main(x):\n    if {test}:\n        return {new}\n    return {old}\nmain(1)\n",
    "def main(x):\n    if not ({test}):\n        return {old}\n    return {new}\nmain(1)\n",
    "NEW = {test}\ndef main(x):\n    if not NEW:\n        return {old}\n    return {new}\nmain(1)\n",
    "NEW = {test}\ndef main(x):\n    return {new} if NEW else {old}\nmain(1)\n",
    "def is_new():\n    return {test}\n"
    "def main(x):\n    if is_new():\n        return {new}\n    return {old}\nmain(1)\n",
    "def main(x):\n    if not ({test}):\n        raise RuntimeError\n    return {new}\n"
    "try:\n    main(1)\nexcept RuntimeError:\n    pass\n",
)
_NEW, _OLD = 'jax.lax.pcast(x, "a", to="varying")', "x"


class _Jax:
    """JAX of a release, as far as the programs look."""

    def __init__(self, release: Release) -> None:
        self.release = release

    def modules(self) -> dict[str, types.ModuleType]:
        jax, lax, told = (types.ModuleType(name) for name in ("jax", "jax.lax", "jax.version"))
        if self.release >= Release(0, 8, 2):
            vars(lax)["pcast"] = lambda x, *_, **__: x
        for module in (jax, told):
            vars(module).update(__version__=str(self.release), __version_info__=tuple(self.release))
        vars(jax).update(lax=lax, version=told)
        return {"jax": jax, "jax.lax": lax, "jax.version": told}


def fails(program: str, release: Release, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a program reaches for the name where the release has none."""
    with monkeypatch.context() as patch:
        for name, module in _Jax(release).modules().items():
            patch.setitem(sys.modules, name, module)
        patch.setattr(importlib.metadata, "version", lambda name: str(release))
        names: dict[str, Any] = {}
        try:
            exec(program, names)
        except AttributeError as error:
            assert "pcast" in str(error)
            return True
    return False


def claimed_of_all(program: str) -> set[Release]:
    findings = check(program, devices=None, target_jax=Target(RELEASES[0], RELEASES[-1]))
    return {release for f in findings if f.code == "SHL803" for release in f.releases or ()}


def _programs() -> list[tuple[str, str, bool]]:
    return [(form, test, exact) for form, (test, exact) in itertools.product(_FORMS, _TESTS.items())]


@pytest.mark.parametrize(("form", "test", "exact"), _programs())
def test_a_name_is_missing_in_the_releases_in_which_python_misses_it(
    form: str, test: str, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _HEAD + form.format(test=test, new=_NEW, old=_OLD)
    missed = {release for release in RELEASES if fails(program, release, monkeypatch)}
    found = claimed_of_all(program)
    assert found <= missed
    if exact:
        assert found == missed


@pytest.mark.parametrize(
    "program",
    [
        "import pytest\n@pytest.mark.skipif({test}, reason='old')\ndef test_f():\n    {new}\n",
        "import unittest\n@unittest.skipIf({test}, 'old')\ndef test_f():\n    {new}\n",
        "import pytest\nif {test}:\n    pytest.skip('old', allow_module_level=True)\n"
        "def test_f():\n    {new}\n",
        "def new_only(f):\n    if {test}:\n        return None\n    return f\n"
        "@new_only\ndef g(x):\n    {new}\n",
        "def g(x):\n    assert not ({test})\n    {new}\n",
    ],
)
def test_what_does_not_run_before_a_release_misses_nothing(program: str) -> None:
    for old in ("jax.__version_info__ < (0, 8, 2)", 'Version(jax.__version__) < Version("0.8.2")'):
        text = _HEAD + program.format(test=old, new=_NEW.replace("(x", "(1"))
        assert claimed_of_all(text) == set()
        assert claimed_of_all(text.replace(old, "jax.__version_info__ < (0, 8)")) == {
            Release(0, 8, 0),
            Release(0, 8, 1),
        }
