"""What tests replace in modules and classes: nobody knows what it is then; beside what the tests do."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shardlint.api import Linter, Settings

OPS = """\
import jax
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((8,), ("x",))
def attend(x):
    return jax.device_put(x, NamedSharding(mesh, P("x", None)))
def put(x, spec):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))
"""
MODEL = """\
import os
from app.ops import attend, put
class Layer:
    def __call__(self, x):
        return self.inner(x)
    def inner(self, x):
        return attend(x)
def other(x):
    return x
def sometimes(x, spec):
    return put(x, spec) if os.environ.get("SHARDLINT_NEVER_SET") else x
"""
HEAD = """\
from unittest import mock
from unittest.mock import patch
import jax
import jax.numpy as jnp
from app import model
"""
CALL = "    model.Layer()(jnp.ones(8))\n"
TESTS = {
    "nothing": ("def test(monkeypatch):\n" + CALL, True),
    "decorator": ('@patch("app.model.attend", side_effect=abs)\ndef test(attend):\n' + CALL, False),
    "the wrong module": ('@patch("app.ops.attend", side_effect=abs)\ndef test(attend):\n' + CALL, True),
    "another name": ('@patch("app.model.other")\ndef test(other):\n' + CALL, True),
    "a method": ('@patch("app.model.Layer.inner")\ndef test(inner):\n' + CALL, False),
    "object": ('@mock.patch.object(model, "attend")\ndef test(attend):\n' + CALL, False),
    "a class": ('@mock.patch.object(model.Layer, "inner")\ndef test(inner):\n' + CALL, False),
    "several": ("@patch.multiple(model, attend=abs)\ndef test(monkeypatch):\n" + CALL, False),
    "block": (f'def test(monkeypatch):\n    with patch("app.model.attend"):\n    {CALL}', False),
    "by its name": (
        'def test(monkeypatch):\n    monkeypatch.setattr("app.model.attend", abs)\n' + CALL,
        False,
    ),
    "a library's function": (
        'def test(monkeypatch):\n    monkeypatch.setattr(jax, "device_put", lambda x, s: x)\n' + CALL,
        False,
    ),
    "a library's, by its name": (
        'def test(monkeypatch):\n    monkeypatch.setattr("jax.device_put", lambda x, s: x)\n' + CALL,
        False,
    ),
    "a library's, patched": ('@patch("jax.device_put")\ndef test(put):\n' + CALL, False),
    "another of the library's": ('@patch("jax.device_get")\ndef test(get):\n' + CALL, True),
    "a library's, set": (
        f"def test(_):\n    before, jax.device_put = jax.device_put, print\n    try:\n    {CALL}"
        "    finally:\n        jax.device_put = before\n",
        False,
    ),
    "a stand-in that does not fit, on a branch that nobody knows": (
        'def test(monkeypatch):\n    monkeypatch.setattr(model, "other", abs)\n'
        '    monkeypatch.setattr("app.ops.attend", abs)\n    model.sometimes(jnp.ones(8), ("x", None))\n',
        False,
    ),
    "one on a branch that is taken": (
        'def test(monkeypatch):\n    monkeypatch.setattr("app.ops.attend", abs)\n'
        '    model.put(jnp.ones(8), ("x", None))\n',
        True,
    ),
    "monkeypatch": ('def test(monkeypatch):\n    monkeypatch.setattr(model, "attend", abs)\n' + CALL, False),
}


@pytest.mark.parametrize(("text", "raises"), TESTS.values(), ids=TESTS)
def test_replaced(text: str, raises: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"app/__init__.py": "", "app/ops.py": OPS, "app/model.py": MODEL, "test_it.py": HEAD + text}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    settings = Settings(root=str(tmp_path), devices=8)
    found = Linter(settings).check_paths([str(tmp_path)]).findings
    assert [finding.code for finding in found] == ["SHL201"] * raises
    assert found == Linter(replace(settings, exhaustive=True)).check_paths([str(tmp_path)]).findings
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "app"]:
        monkeypatch.delitem(sys.modules, name)
    scope: dict[str, Any] = {}
    exec(HEAD + text, scope)
    test = scope["test"]
    takes = getattr(test, "__wrapped__", test).__code__.co_varnames[:1] in (("monkeypatch",), ("_",))
    outcome = ""
    try:
        test(*([monkeypatch] if takes else []))
    except ValueError as error:
        outcome = str(error)
    assert bool(outcome) is raises, outcome
