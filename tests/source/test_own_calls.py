"""Calls of a project's own functions are no calls of JAX's, whatever their names are."""

from __future__ import annotations

import json

from shardlint.report.api_coverage import coverage_of
from shardlint.source.sources import read_source, source_from_text

UTILS = """
import jax
from jax.experimental.shard_map import shard_map

def reshard(tree, shardings):
    return jax.tree.map(lambda x, s: jax.device_put(x, s), tree, shardings)
"""
TRAIN = """
import jax
import project.utils as u
from project import utils
from project.utils import reshard as move, reshard, shard_map
from jax.sharding import NamedSharding

def psum(x):
    return sum(x)

def main(x, s, mesh):
    a = u.reshard(x, s)
    b = utils.reshard(x, s)
    c = reshard(x, s)
    d = jax.sharding.reshard(x, s)
    e = u.reshard(jax.device_put(x, s), s)
    f = shard_map(lambda x: x, mesh, s, s)
    g = psum([a, b])
    h = jax.lax.psum(x, "data")
    i = x.reshard(s)
    return NamedSharding(mesh, s)
"""


def test_own_functions_are_no_sites() -> None:
    sources = [source_from_text("project/utils.py", UTILS), source_from_text("project/train.py", TRAIN)]
    found = [(one.site.span.path, one.site.span.line, one.site.name) for one in coverage_of(sources, [])]
    assert found == [
        ("project/utils.py", 6, "device_put"),
        ("project/train.py", 15, "reshard"),
        ("project/train.py", 16, "device_put"),
        ("project/train.py", 17, "shard_map"),
        ("project/train.py", 19, "psum"),
        ("project/train.py", 20, "reshard"),
        ("project/train.py", 21, "NamedSharding"),
    ]


PACKAGE = """
from .sizes import *
from .move import reshard as reshard
from . import sizes
"""
SIZES = """
class Axes:
    def axis_size(self, axis):
        return self.sizes[axis]

def axis_size(axis):
    return axis.size
"""
MOVE = """
import jax
import project
import project.sizes
from ..project.sizes import axis_size

def reshard(x, axes: "Axes"):
    a = project.axis_size(x)
    b = project.sizes.axis_size(x)
    c = axes.axis_size(x)
    d = axis_size(x)
    e = jax.lax.axis_size("data")
    return project.jax.reshard(x, x)
"""


def test_own_functions_are_found_through_packages_and_relative_imports() -> None:
    texts = {"project/__init__.py": PACKAGE, "project/sizes.py": SIZES, "project/move.py": MOVE}
    sources = [source_from_text(path, text) for path, text in texts.items()]
    found = [(one.site.span.path, one.site.span.line, one.site.name) for one in coverage_of(sources, [])]
    assert found == [("project/move.py", 12, "axis_size"), ("project/move.py", 13, "reshard")]


def test_the_cells_of_a_notebook_share_their_imports() -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
        for text in ("import project\nimport jax", "project.reshard(1, 2)\njax.sharding.reshard(1, 2)")
    ]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    sources = [
        source_from_text("project/__init__.py", "def reshard(x, s): ...\n"),
        read_source("book.ipynb", book.encode()),
    ]
    spans = [one.site.span for one in coverage_of(sources, [])]
    assert [(span.cell, span.line) for span in spans] == [(1, 2)]
